// SPDX-License-Identifier: BSD-3-Clause
// Small moving pictures stand still for readers who asked their system for less motion.
document.addEventListener("DOMContentLoaded", () => {
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  for (const picture of document.querySelectorAll("div.mechanisms svg, button.poster svg")) picture.pauseAnimations();
});
// An object that was on this page has one of its own: the address of its place here leads to it.
document.addEventListener("DOMContentLoaded", () => {
  const name = decodeURIComponent(location.hash.slice(1));
  if (!name || document.getElementById(name)) return;
  for (const link of document.querySelectorAll("article a.reference.internal"))
    if (link.hash.slice(1) === name) { location.replace(link.href); return; }
});
// A live page waits in a template, without the player, which all of the site share.
let player;
const loaded = () => player ??= new Promise((resolve, reject) => {
  const root = document.documentElement.dataset.content_root ?? "";
  const script = document.createElement("script");
  script.src = `${root}_static/player.js`;
  script.onload = () => resolve(window.kanecorePlayer);
  script.onerror = reject;
  document.head.append(script);
});
document.addEventListener("click", async event => {
  const button = event.target.closest("button.live");
  if (!button) return;
  const frame = button.nextElementSibling.content.firstElementChild;
  frame.srcdoc = frame.srcdoc.replace("{{player}}", await loaded());
  button.replaceWith(frame);
});
