// SPDX-License-Identifier: BSD-3-Clause
// A live page without a browser: node live_page_in_node.js FOLDER PAGE, with JavaScript on stdin that sees machine,
// motion and model; what it returns is printed as JSON.
const fs = require("fs"), vm = require("vm");

const [folder, file] = process.argv.slice(2), page = fs.readFileSync(file, "utf8");
const part = id => page.match(new RegExp(`id="${id}">([^<]*)<`))[1];
const scripts = ["machine.js", "motion.js", "sharing.js"].map(name => fs.readFileSync(`${folder}/${name}`, "utf8"));
vm.runInThisContext(`"use strict"; ${scripts.join("\n")} Object.assign(globalThis, {Machine, Motion, unpacked, linkTo, `
    + "follow, pythonLine, tableOf});");

async function main() {
    const model = JSON.parse(part("model"));
    const [player, code] = await Promise.all(["player", "code"].map(id => unpacked(part(id))));
    const machine = await Machine.open(player, code, model.sizes), motion = new Motion(machine, model);
    const script = new Function("machine", "motion", "model", fs.readFileSync(0, "utf8"));
    const numbers = (_, value) => typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
    console.log(JSON.stringify(script(machine, motion, model), numbers));
}

main();
