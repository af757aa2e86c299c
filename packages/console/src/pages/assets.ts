/**
 * The files of the console: its only stylesheet and its only script. They have no secret.
 *
 * @module
 */

/** Phone first. Colours have a contrast of 4.5 or more on their backgrounds, in both schemes. */
const style = `:root {
  color-scheme: light dark;
  --back: light-dark(#f7f7f4, #14171a);
  --card: light-dark(#fff, #1d2226);
  --text: light-dark(#1b1f23, #e8eaec);
  --faint: light-dark(#565e66, #a4adb5);
  --line: light-dark(#c9cfd4, #3c454d);
  --main: light-dark(#1d5c4d, #7fd3bb);
  --on-main: light-dark(#fff, #10201b);
  --warn: light-dark(#fff3d6, #3a2f12);
  --fail: light-dark(#fde4e1, #43201c);
  font: 1rem / 1.5 system-ui, sans-serif;
  color: var(--text);
  background: var(--back);
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 70rem; padding: 0 1rem 4rem; overflow-wrap: anywhere; }
header { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 0 1rem; border-bottom: 1px solid var(--line); }
nav { display: flex; flex-wrap: wrap; align-items: center; gap: 0.25rem 1rem; }
.name { font-weight: 700; color: var(--main); margin: 0.75rem 0; }
main:focus { outline: none; }
h1 { font-size: 1.6rem; line-height: 1.2; }
h2 { font-size: 1.15rem; margin-top: 2rem; }
:focus-visible { outline: 3px solid var(--main); outline-offset: 2px; }
a { color: var(--main); }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: 0.5rem; padding: 0.5rem 1rem; background: var(--card); }
.faint { color: var(--faint); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; background: var(--card); }
caption { text-align: left; padding: 0.25rem 0; color: var(--faint); }
th, td { text-align: left; vertical-align: top; padding: 0.4rem 0.6rem; border: 1px solid var(--line); }
th, td { overflow-wrap: normal; }
td.code { overflow-wrap: anywhere; min-width: 12rem; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.whole { user-select: all; }
.code { font-family: ui-monospace, monospace; font-size: 0.9rem; }
button, .button { font: inherit; display: inline-block; min-height: 2.75rem; padding: 0.5rem 1rem; border: 1px solid var(--main); border-radius: 0.4rem; background: var(--main); color: var(--on-main); text-decoration: none; cursor: pointer; }
button.plain { background: none; color: var(--main); }
label { display: block; font-weight: 600; margin-top: 1rem; }
.choice { display: flex; gap: 0.5rem; align-items: baseline; }
input, select, textarea { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--faint); border-radius: 0.3rem; padding: 0.5rem; max-width: 100%; min-height: 2.75rem; }
input[type='checkbox'] { min-height: 0; }
textarea { width: 100%; min-height: 12rem; font-family: ui-monospace, monospace; }
.filters { display: flex; flex-wrap: wrap; gap: 0 1rem; align-items: end; margin-bottom: 1rem; }
.actions { display: flex; flex-wrap: wrap; gap: 0.75rem; margin: 1.5rem 0; align-items: center; }
.problem, .warning { padding: 0.25rem 1rem; border-left: 4px solid currentcolor; margin: 1rem 0; }
.problem { background: var(--fail); }
.warning { background: var(--warn); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.25rem 1rem; }
dd { margin: 0; }
progress { width: 100%; max-width: 24rem; accent-color: var(--main); }
@media (max-width: 30rem) { dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: 0.5rem; } }
`;

/** Replaces the parts of a page that change while a payment runs. Without it the page has a link that loads it again. */
const live = `const pauseMs = 3000;
const find = (page) => [...page.querySelectorAll('[data-live]')];
async function update() {
  const answer = await fetch(location.href).catch(() => undefined);
  if (answer?.status === 401 || answer?.status === 404) return location.reload();
  const shown = find(document);
  if (answer?.ok) {
    const next = find(new DOMParser().parseFromString(await answer.text(), 'text/html'));
    if (next.length !== shown.length) return location.reload();
    next.forEach((part, index) => {
      if (part.innerHTML !== shown[index].innerHTML) shown[index].replaceChildren(...part.childNodes);
    });
  }
  setTimeout(update, pauseMs);
}
if (find(document).length > 0) setTimeout(update, pauseMs);
`;

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#1d5c4d"/><path d="M4 5h8M4 8h8M4 11h5" stroke="#fff" stroke-width="1.5"/></svg>`;

/** By name. */
export const assets: Readonly<Record<string, { readonly type: string; readonly text: string }>> = {
  'style.css': { type: 'text/css; charset=utf-8', text: style },
  'live.js': { type: 'text/javascript; charset=utf-8', text: live },
  'icon.svg': { type: 'image/svg+xml', text: icon },
};
