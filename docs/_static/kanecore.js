// SPDX-License-Identifier: BSD-3-Clause
// Small moving pictures stand still for readers who asked their system for less motion.
document.addEventListener("DOMContentLoaded", () => {
  if (!matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  for (const picture of document.querySelectorAll("div.mechanisms svg, button.poster svg")) picture.pauseAnimations();
});
