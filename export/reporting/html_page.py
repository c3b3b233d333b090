"""The frame of a report page: markup and style, without scripts, fonts or links."""

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="generator" content="kerasbert report">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}
</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""

STYLE = """
:root {
  color-scheme: light dark;
  --page: #f6f7f9; --card: #ffffff; --ink: #1c2230; --soft: #5d6678; --rule: #e3e7ee;
  --blue: #3567c4; --orange: #d9772b; --green: #2f8f62; --violet: #8b9fd0; --red: #c23b3b; --amber: #b07a12;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #12151b; --card: #1a1f28; --ink: #e6e9f0; --soft: #98a2b5; --rule: #2c3340;
    --blue: #6f9df0; --orange: #ee9a55; --green: #56bd8c; --violet: #6276ad; --red: #ef7070; --amber: #dba83f;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
}
main { max-width: 1320px; margin: 0 auto; padding: 28px 18px 48px; }
header { margin-bottom: 20px; }
.brand { margin: 0; color: var(--soft); font-size: 13px; letter-spacing: .06em; }
h1 { margin: 2px 0 14px; font-size: 28px; line-height: 1.2; overflow-wrap: anywhere; }
h2 { margin: 0 0 12px; font-size: 16px; }
section {
  background: var(--card); border: 1px solid var(--rule); border-radius: 10px; padding: 18px 20px;
  margin-bottom: 16px; min-width: 0;
}
.grid {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 420px), 1fr)); gap: 16px;
  margin-bottom: 16px;
}
.grid section { margin: 0; }
.banner {
  display: flex; flex-wrap: wrap; gap: 4px 14px; align-items: baseline; padding: 14px 18px;
  border-radius: 10px; color: #fff;
}
.banner strong { font-size: 18px; text-transform: capitalize; }
.banner.passed { background: #23744e; }
.banner.failed { background: #a92f2f; }
.banner.incomplete, .banner.not-judged { background: #8a5f0c; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 13.5px; font-variant-numeric: tabular-nums; }
th { text-align: left; color: var(--soft); font-weight: 600; white-space: nowrap; }
th, td { padding: 6px 14px 6px 0; border-bottom: 1px solid var(--rule); vertical-align: top; }
tbody:last-child tr:last-child td, tr.noted td { border-bottom: 0; }
td { overflow-wrap: break-word; }
.below td { padding-top: 0; color: var(--soft); overflow-wrap: anywhere; }
.below p { margin: 0; max-width: 110ch; }
.matrix { width: auto; }
.matrix td, .matrix th { padding: 4px 7px; text-align: right; border: 0; }
.matrix thead th { vertical-align: bottom; }
.matrix thead span { writing-mode: vertical-rl; transform: rotate(180deg); }
.matrix td { min-width: 30px; border: 1px solid var(--rule); }
.matrix .right { background: color-mix(in srgb, var(--blue) calc(var(--share) * 55%), transparent); }
.matrix .wrong { background: color-mix(in srgb, var(--orange) calc(var(--share) * 75%), transparent); }
.status { font-weight: 600; }
.status.passed { color: var(--green); }
.status.failed { color: var(--red); }
.status.not-run, .status.not-judged { color: var(--amber); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 5px 18px; margin: 0; font-size: 13.5px; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
.note { margin: 10px 0 0; color: var(--soft); font-size: 13px; }
summary { cursor: pointer; color: var(--soft); font-size: 13.5px; }
details table { margin-top: 10px; }
svg { display: block; width: 100%; max-width: 540px; height: auto; margin: 0 auto; }
svg text { fill: var(--ink); font-family: inherit; }
svg .label, svg .value { font-size: 13px; }
svg .value { font-variant-numeric: tabular-nums; }
svg .tick { font-size: 11.5px; fill: var(--soft); }
svg .axis { font-size: 12px; fill: var(--soft); }
svg .grid { stroke: var(--rule); }
svg .diagonal { stroke: var(--soft); stroke-dasharray: 4 4; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 16px; margin: 8px 0 0; font-size: 13px; color: var(--soft); }
.legend i { display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin-right: 6px; }
@media (max-width: 760px) {
  .stack, .stack tbody, .stack tr, .stack td { display: block; }
  .stack thead { display: none; }
  .stack tbody { padding: 8px 0; border-bottom: 1px solid var(--rule); }
  .stack tbody:last-child { border-bottom: 0; }
  .stack td {
    display: flex; justify-content: space-between; gap: 16px; padding: 2px 0; border: 0; text-align: right;
    overflow-wrap: anywhere;
  }
  .stack td::before {
    content: attr(data-label); color: var(--soft); text-align: left; flex: none; max-width: 50%; overflow-wrap: anywhere;
  }
  .stack .below td { display: block; text-align: left; padding-top: 4px; }
  .stack .below td::before { content: none; }
}
@media (max-width: 520px) {
  main { padding: 16px 10px 32px; }
  section { padding: 14px; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: 6px; }
}
"""
