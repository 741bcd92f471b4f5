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

// The text for a name of the model, with its unit.
const labelOf = ({labels}, name) => Object.hasOwn(labels, name) ? labels[name] : name;
const unitOf = ({units}, name) => Object.hasOwn(units, name) ? units[name] : "";
const withUnit = (text, unit) => unit ? `${text}, ${unit}` : text;
const titled = (model, name) => withUnit(labelOf(model, name), unitOf(model, name));

// A name, a slider and a number box, whose title has the unit too.  `change` answers with the value that is there then.
function sliderRow(parent, name, title, {value, range: [low, high]}, change) {
    const slider = element("input", {type: "range", min: low, max: high, step: (high - low) / 500, value});
    const box = element("input", {type: "number", step: "any", value: tidy(value)});
    slider.setAttribute("aria-label", title);
    box.setAttribute("aria-label", `${title}, as a number`);
    const show = there => { slider.value = there; box.value = tidy(there); };
    slider.addEventListener("input", () => { box.value = tidy(change(Number(slider.value))); });
    slider.addEventListener("change", () => show(change(Number(slider.value))));
    box.addEventListener("change", () => show(box.value === "" ? change() : change(Number(box.value))));
    parent.append(element("div", {className: "row"}, element("span", {textContent: name, title}), slider, box));
    return show;
}

// A title and a number box; `change` answers with the value that is there then.
function boxRow(parent, title, change) {
    const box = element("input", {type: "number", step: "any"});
    box.setAttribute("aria-label", title);
    box.addEventListener("change", () => { box.value = tidy(box.value === "" ? change() : change(Number(box.value))); });
    parent.append(element("div", {className: "row wide"}, element("span", {textContent: title, title}), box));
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
