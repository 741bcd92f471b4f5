// SPDX-License-Identifier: BSD-3-Clause
// Sliders and number boxes beside the picture.

function element(kind, properties = {}, ...children) {
    const made = Object.assign(document.createElement(kind), properties);
    made.append(...children);
    return made;
}

// A folded part of the side with a heading.
function section(parent, title, open) {
    const part = element("details", {open}, element("summary", {textContent: title}));
    parent.append(part);
    return part;
}

const withUnit = (name, unit) => unit ? `${name}, ${unit}` : name;

// A name, a slider and a number box.  `change` answers with the value that is there then.
function sliderRow(parent, {name, value, range: [low, high]}, unit, change) {
    const slider = element("input", {type: "range", min: low, max: high, step: (high - low) / 500, value});
    const box = element("input", {type: "number", step: "any", value: tidy(value)});
    slider.setAttribute("aria-label", withUnit(name, unit));
    box.setAttribute("aria-label", `${withUnit(name, unit)}, as a number`);
    const show = there => { slider.value = there; box.value = tidy(there); };
    slider.addEventListener("input", () => { box.value = tidy(change(Number(slider.value))); });
    slider.addEventListener("change", () => show(change(Number(slider.value))));
    box.addEventListener("change", () => show(box.value === "" ? change() : change(Number(box.value))));
    const title = withUnit(name, unit);
    parent.append(element("div", {className: "row"}, element("span", {textContent: name, title}), slider, box));
    return show;
}

// A name and a number box; `change` answers with the value that is there then.
function boxRow(parent, name, unit, change) {
    const box = element("input", {type: "number", step: "any"});
    box.setAttribute("aria-label", withUnit(name, unit));
    box.addEventListener("change", () => { box.value = tidy(box.value === "" ? change() : change(Number(box.value))); });
    const label = element("span", {textContent: withUnit(name, unit), title: withUnit(name, unit)});
    parent.append(element("div", {className: "row wide"}, label, box));
    return value => { if (document.activeElement !== box) box.value = tidy(value); };
}

function outputRow(parent, name, title = "") {
    const output = element("output");
    output.setAttribute("aria-label", name);
    parent.append(element("div", {className: "row wide", title}, element("span", {textContent: name}), output));
    return text => { output.value = text; };
}

function tidy(value) {
    const small = value !== 0 && Math.abs(value) < 1e-3;
    return small ? value.toExponential(3) : Number(value.toPrecision(6)).toString();
}
