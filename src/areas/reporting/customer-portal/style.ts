import { DARK, LIGHT } from '../../../platform/colours.ts';

/** The one style sheet of the customers' pages: readable on a phone, light or dark as the reader likes it. */
export const STYLE = `
:root { color-scheme: light dark; ${LIGHT} }
@media (prefers-color-scheme: dark) { :root { ${DARK} } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  overflow-wrap: anywhere; -webkit-text-size-adjust: 100%; }
main { max-width: 56rem; margin: 0 auto; padding: 2rem 1rem 4rem; }
header { margin-bottom: 1.5rem; }
header img { display: block; max-height: 3rem; max-width: 12rem; margin-bottom: .75rem; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: .25rem 0; }
h2 { font-size: 1.125rem; margin: 2rem 0 .5rem; }
h3 { font-size: .875rem; font-weight: 600; margin: 1rem 0 .25rem; }
p { margin: 0; }
a { color: var(--accent); }
a:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.soft { color: var(--soft); font-size: .875rem; font-weight: 400; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; }
.card.alone { padding: 1.25rem; }
ul { list-style: none; margin: 0; padding: 0; }
li { padding: .875rem 1.25rem; }
li + li { border-top: 1px solid var(--line); }
.row { display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: center; }
.what { flex: 1 1 14rem; min-width: 0; }
.what strong { display: block; font-weight: 600; }
.how a { padding: .25rem .125rem; }
.how { display: flex; flex-wrap: wrap; gap: .25rem .75rem; align-items: center; justify-content: flex-end; }
.sum { font-weight: 600; font-variant-numeric: tabular-nums; text-align: right; white-space: nowrap; }
.sum .soft { display: block; }
.badge { border-radius: 1rem; padding: .0625rem .625rem; font-size: .8125rem; white-space: nowrap;
  background: var(--ground); color: var(--soft); }
.badge.good { background: var(--good-ground); color: var(--good); }
.badge.bad { background: var(--bad-ground); color: var(--bad); }
.badge.wait { background: var(--wait-ground); color: var(--wait); }
.how a.button { border-radius: .5rem; padding: .25rem .875rem; background: var(--accent); color: var(--on-accent);
  font-weight: 600; text-decoration: none; }
.pay { max-width: 34rem; margin: 0 auto; }
.pay header { margin: 0 .25rem 1rem; }
.pay h1 { font-variant-numeric: tabular-nums; margin: .25rem 0 .5rem; }
.pay .card.alone { padding: 1.5rem; }
.pay ul { margin-top: 1rem; }
.pay .button { display: block; width: 100%; margin-top: 1.25rem; border: 0; border-radius: .5rem; padding: .75rem 1rem;
  background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 600; text-align: center;
  text-decoration: none; cursor: pointer; }
.pay .button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.pay .account { margin-top: 1rem; }
.pay .account th { white-space: nowrap; vertical-align: baseline; color: var(--soft); }
.pay .account td { white-space: normal; vertical-align: baseline; }
.pay .soft + p:not(.soft) { margin-top: .75rem; }
.pay footer { margin: 1rem .25rem; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(10rem, 1fr)); gap: .75rem; }
.tiles + .tiles { margin-top: .75rem; }
.tile { padding: .875rem 1.25rem; }
.tile b { display: block; font-size: 1.375rem; font-variant-numeric: tabular-nums; }
.tile b.bad { color: var(--bad); }
table { width: 100%; border-collapse: collapse; font-size: .9375rem; }
th { font-weight: 400; text-align: left; }
td { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; padding-left: 1rem; }
tfoot th, tfoot td { border-top: 1px solid var(--line); font-weight: 600; }
th, td { padding-top: .25rem; padding-bottom: .25rem; }
nav { display: flex; gap: 1.5rem; padding: .5rem .25rem; font-size: .9375rem; }
@media (max-width: 34rem) {
  main { padding-top: 1.25rem; }
  li, .tile { padding-left: 1rem; padding-right: 1rem; }
  .what, .how { flex-basis: 100%; }
  .how { justify-content: flex-start; }
  .how .sum { order: -1; text-align: left; }
}
@media print { body { background: none; } nav, .how a { display: none; } }
`;
