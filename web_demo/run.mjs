#!/usr/bin/env node
// The command line over the core: `node web_demo/run.mjs tokenize|predict|search|inspect MODEL.tflite < texts`; see --help.
import { main } from "./node/main.js";

process.exitCode = await main(process.argv.slice(2));
