import assert from "node:assert/strict";
import { test } from "node:test";

import { TaughtClasses } from "../../core/search/taught_classes.js";
import { assertRefused } from "../assert_refused.js";

function at(degrees, length = 1) {
  const angle = (degrees * Math.PI) / 180;
  return Float32Array.of(length * Math.cos(angle), length * Math.sin(angle));
}

function taughtClasses() {
  const taught = new TaughtClasses(2);
  taught.add("east", "e1", at(-10, 5));
  taught.add("east", "e2", at(10, 0.1));
  taught.add("north", "n1", at(90));
  return taught;
}

const names = (classes) => classes.map(({ name }) => name);
const assertNear = (received, expected, most = 1e-6) => assert.ok(Math.abs(received - expected) < most, `${received}, ${expected}`);
const cos = (degrees) => Math.cos((degrees * Math.PI) / 180);

test("the nearest class wins, and the length of examples does not matter", () => {
  const classes = taughtClasses().classify(at(30, 7));
  assert.deepEqual(names(classes), ["east", "north"]);
  assert.equal(taughtClasses().classify(at(70))[0].name, "north");
  assertNear(classes[0].probability + classes[1].probability, 1, 1e-12);
});

test("probabilities of one example each are the softmax of twenty cosines", () => {
  const taught = new TaughtClasses(2);
  taught.add("east", "e", at(0, 3));
  taught.add("north", "n", at(90));
  const [east, north] = [Math.exp(20 * cos(30)), Math.exp(20 * 0.5)];
  assertNear(taught.classify(at(30))[0].probability, east / (east + north), 1e-5);
  assert.equal(taught.layer.method, "centre");
});

test("examples and classes are added and removed", () => {
  const taught = taughtClasses();
  taught.addClass("south");
  taught.addClass("east");
  assert.deepEqual([...taught.examples], [["east", ["e1", "e2"]], ["north", ["n1"]], ["south", []]]);
  assert.equal(taught.classify(at(0)).length, 2);
  taught.removeAt("east", 0);
  assert.equal(taught.classify(at(40))[0].name, "east");
  taught.add("north", "n2", at(45));
  assert.equal(taught.classify(at(40))[0].name, "north"); // the layer was fitted anew
  taught.removeClass("north");
  assert.equal(taught.canClassify, false);
  assertRefused("at least two classes", () => taught.classify(at(0)));
  taught.add("south", "s", at(270));
  assert.ok(taught.canClassify);
  assert.equal(taught.classify(at(260))[0].name, "south");
});

test("equal classes are in the order in which they were added", () => {
  const taught = new TaughtClasses(2);
  for (const name of ["2", "1", "__proto__"]) taught.add(name, name, at(45));
  assert.deepEqual(names(taught.classify(at(0))), ["2", "1", "__proto__"]);
});

test("zero vectors have no direction", () => {
  const taught = new TaughtClasses(2);
  taught.add("none", "zero", new Float32Array(2));
  taught.add("east", "e", at(0));
  assert.deepEqual(names(taught.classify(at(20))), ["east", "none"]);
  assertNear(taught.classify(new Float32Array(2))[0].probability, 0.5, 1e-12);
});

test("what does not fit is refused", () => {
  const taught = taughtClasses();
  assertRefused("2 dimensions, received 3", () => taught.add("east", "x", new Float32Array(3)));
  assertRefused("finite numbers", () => taught.classify(Float32Array.of(NaN, 0)));
  assertRefused("a name of a class", () => taught.addClass(" "));
  assertRefused("expected one of the classes [east, north]", () => taught.removeAt("west", 0));
  assertRefused("from 0 to 1, received 2", () => taught.removeAt("east", 2));
  assert.deepEqual(taught.examples.get("east"), ["e1", "e2"]);
});
