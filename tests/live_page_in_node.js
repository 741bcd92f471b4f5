// SPDX-License-Identifier: BSD-3-Clause
// Live pages without a browser: node live_page_in_node.js FOLDER, with a line {page, script} of JSON on stdin for each
// question.  JavaScript of the script sees machine, motion and model of the page; what it returns is printed as a line
// of JSON, {value}, or {error} with its words.
const fs = require("fs"), readline = require("readline"), vm = require("vm");

const folder = process.argv[2];
const scripts = ["../show/picture.js", "machine.js", "motion.js", "plots.js", "solids.js", "controls.js", "sharing.js"].map(name => fs.readFileSync(`${folder}/${name}`, "utf8"));
vm.runInThisContext(`"use strict"; ${scripts.join("\n")} Object.assign(globalThis, {Machine, Motion, unpacked, linkTo, `
    + "follow, pythonLine, tableOf, kindsOfPlots, ticks, meshOf, Solids});");

async function valueOf({page, script}) {
    const part = id => page.match(new RegExp(`id="${id}">([^<]*)<`))[1];
    const model = JSON.parse(part("model"));
    const [player, code] = await Promise.all(["player", "code"].map(id => unpacked(part(id))));
    const machine = await Machine.open(player, code, model.sizes), motion = new Motion(machine, model);
    return new Function("machine", "motion", "model", script)(machine, motion, model);
}

async function main() {
    const numbers = (_, value) => typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
    for await (const line of readline.createInterface({input: process.stdin})) {
        const answer = await valueOf(JSON.parse(line)).then(value => ({value}), error => ({error: String(error.stack)}));
        console.log(JSON.stringify(answer, numbers));
    }
}

main();
