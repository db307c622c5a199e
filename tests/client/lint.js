// Whether the OpenAPI file is one, by the rules of a real validator: lint.js FILE. Says what is wrong, and ends with 1 then.
import { createConfig, formatProblems, lint } from "@redocly/openapi-core";

const config = await createConfig({
  extends: ["spec", "recommended"],
  rules: {
    "no-server-example.com": "off", // an agent is at the loopback
    "operation-4xx-response": "off", // health gates and the page refuse nobody
    "no-unused-components": "off", // Change: what the data of an event is, which OpenAPI cannot say of a stream
  },
});
const problems = await lint({ ref: process.argv[2], config });
formatProblems(problems, { format: "stylish", totals: { errors: 0, warnings: 0, ignored: 0 }, version: "" });
process.exitCode = problems.length > 0 ? 1 : 0;
