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

test("the nearest centre wins, and the length of examples does not matter", () => {
  const classes = taughtClasses().classify(at(30, 7));
  assert.deepEqual(names(classes), ["east", "north"]);
  assertNear(classes[0].cosine, cos(30));
  assertNear(classes[1].cosine, 0.5);
  assert.equal(taughtClasses().classify(at(60))[0].name, "north");
});

test("probabilities are the softmax of twenty cosines", () => {
  const classes = taughtClasses().classify(at(30));
  const weights = classes.map(({ cosine }) => Math.exp(20 * cosine));
  const total = weights[0] + weights[1];
  classes.forEach(({ probability }, number) => assertNear(probability, weights[number] / total, 1e-12));
  assertNear(classes[0].probability + classes[1].probability, 1, 1e-12);
});

test("examples and classes are added and removed", () => {
  const taught = taughtClasses();
  taught.addClass("south");
  taught.addClass("east");
  assert.deepEqual([...taught.examples], [["east", ["e1", "e2"]], ["north", ["n1"]], ["south", []]]);
  assert.equal(taught.classify(at(0)).length, 2);
  taught.removeAt("east", 0);
  assertNear(taught.classify(at(0))[0].cosine, cos(10));
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

test("zero vectors, and examples that cancel each other, are near to nothing", () => {
  const taught = taughtClasses();
  taught.add("none", "zero", new Float32Array(2));
  taught.add("both", "one", at(0));
  taught.add("both", "other", at(180));
  const cosines = new Map(taught.classify(at(20)).map(({ name, cosine }) => [name, cosine]));
  assert.deepEqual([cosines.get("none"), cosines.get("both")], [0, 0]);
  assertNear(taught.classify(new Float32Array(2))[3].probability, 0.25, 1e-12);
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
