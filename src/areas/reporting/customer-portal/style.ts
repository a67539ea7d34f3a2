import { DARK, LIGHT } from '../../../platform/colours.ts';

/** The one style sheet of the customers' pages: readable on a phone, light or dark as the reader likes it, printed. */
export const STYLE = `
:root { color-scheme: light dark; ${LIGHT} }
@media (prefers-color-scheme: dark) { :root { ${DARK} } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  overflow-wrap: anywhere; -webkit-text-size-adjust: 100%; }
body.embedded { background: Canvas; }
main { max-width: 62rem; margin: 0 auto; padding: 1.75rem 1.25rem 3rem; }
.embedded main { padding: .25rem; max-width: none; }
h1 { font-size: 1.625rem; line-height: 1.25; margin: 0; letter-spacing: -.01em; }
h2 { font-size: 1.0625rem; line-height: 1.3; margin: 2.25rem 0 .625rem; }
h3 { font-size: 1rem; line-height: 1.3; font-weight: 600; margin: 0; }
p { margin: 0; }
a { color: var(--accent); }
a:focus-visible, button:focus-visible, summary:focus-visible, input:focus-visible, select:focus-visible {
  outline: 2px solid var(--accent); outline-offset: 2px; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip:not(:focus) { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.soft { color: var(--soft); font-size: .875rem; font-weight: 400; }
.num { font-variant-numeric: tabular-nums; white-space: nowrap; }
.top { background: var(--card); border-bottom: 1px solid var(--line); }
.top > div { max-width: 62rem; margin: 0 auto; padding: .875rem 1.25rem 0; }
.who { display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: center; justify-content: space-between;
  padding-bottom: .25rem; }
.seller { display: flex; align-items: center; gap: .75rem; font-weight: 600; min-width: 0; }
.seller img { display: block; max-height: 2.25rem; max-width: 9rem; border-radius: .25rem; }
@media (prefers-color-scheme: dark) { .seller img, .pay header img { background: #fff; padding: .25rem; } }
.top nav { display: flex; gap: 1.5rem; overflow-x: auto; margin: 0 -.25rem; padding: 0 .25rem; scrollbar-width: none; }
.top nav a { padding: .625rem 0 .5rem; border-bottom: 3px solid transparent; color: var(--soft); text-decoration: none;
  white-space: nowrap; font-size: .9375rem; font-weight: 500; }
.top nav a:hover { color: var(--text); }
.top nav a[aria-current] { color: var(--text); border-color: var(--accent); }
.embedded .top { background: none; }
.embedded .top > div { padding: 0 .25rem; max-width: none; }
.crumb { font-size: .875rem; margin-bottom: .375rem; }
.crumb a { text-decoration: none; }
.head { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: baseline; justify-content: space-between;
  margin-bottom: 1.25rem; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; }
.card + .card { margin-top: .75rem; }
.card.alone { padding: 1.25rem; }
.card > header { padding: 1rem 1.25rem .25rem; display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: baseline;
  justify-content: space-between; }
.card > header h2 { font-size: 1rem; margin: 0; }
.card > .body { padding: .25rem 1.25rem 1.125rem; }
.card > .body:first-child { padding-top: 1rem; }
.body > p + table { margin-top: .5rem; }
.card table + p { margin-top: .75rem; }
ul { list-style: none; margin: 0; padding: 0; }
li { padding: .875rem 1.25rem; }
li + li { border-top: 1px solid var(--line); }
.row { display: flex; flex-wrap: wrap; gap: .375rem 1rem; align-items: center; }
.what { flex: 1 1 14rem; min-width: 0; }
.what strong { display: block; font-weight: 600; }
.how { display: flex; flex-wrap: wrap; gap: .375rem .75rem; align-items: center; justify-content: flex-end; }
.sum { font-weight: 600; font-variant-numeric: tabular-nums; text-align: right; white-space: nowrap; }
.sum .soft { display: block; }
.badge { display: inline-block; border-radius: 1rem; padding: .0625rem .625rem; font-size: .8125rem; white-space: nowrap;
  background: var(--ground); color: var(--soft); }
.badge.good { background: var(--good-ground); color: var(--good); }
.badge.bad { background: var(--bad-ground); color: var(--bad); }
.badge.wait { background: var(--wait-ground); color: var(--wait); }
.due { display: flex; flex-wrap: wrap; gap: 1rem 1.5rem; align-items: center; justify-content: space-between;
  padding: 1.25rem; }
.due b { display: block; font-size: 2rem; line-height: 1.2; letter-spacing: -.02em; font-variant-numeric: tabular-nums; }
.due .bad { color: var(--bad); }
.due .soft, .due .bad { display: block; }
p + .facts { margin-top: .875rem; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: .75rem 1.25rem; margin: 0; }
.facts dt { color: var(--soft); font-size: .8125rem; }
.facts dd { margin: 0; font-weight: 600; font-variant-numeric: tabular-nums; }
.facts dd .soft { display: block; font-size: .8125rem; }
.meter { display: block; width: 100%; height: .5rem; margin-top: .375rem; }
.meter .rail { fill: var(--line); }
.meter .fill { fill: var(--accent); }
.meter .full { fill: var(--bad); }
.chart { display: block; width: 100%; height: auto; margin: .75rem 0 .25rem; }
.chart line { stroke: var(--line); stroke-width: 1; }
.chart text { fill: var(--soft); font-size: 9px; font-variant-numeric: tabular-nums; }
.chart .mark, .chart .last { text-anchor: end; }
.chart .middle { text-anchor: middle; }
.chart path { stroke: var(--accent); }
details { margin-top: .25rem; font-size: .9375rem; }
summary { cursor: pointer; color: var(--soft); font-size: .875rem; width: fit-content; }
table { width: 100%; border-collapse: collapse; font-size: .9375rem; }
th { font-weight: 400; text-align: left; }
thead th { color: var(--soft); font-size: .8125rem; vertical-align: bottom; }
td, thead th:not(:first-child) { text-align: right; font-variant-numeric: tabular-nums; padding-left: 1rem; }
td { white-space: nowrap; }
tfoot th, tfoot td { border-top: 1px solid var(--line); font-weight: 600; }
th, td { padding-top: .25rem; padding-bottom: .25rem; vertical-align: baseline; }
.list table { font-size: 1rem; }
.list th, .list td { padding: .75rem .5rem; }
.list tr > :first-child { padding-left: 1.25rem; }
.list tr > :last-child { padding-right: 1.25rem; }
.list tbody tr + tr > * { border-top: 1px solid var(--line); }
.list thead th { border-bottom: 1px solid var(--line); padding-top: .5rem; padding-bottom: .5rem; }
.list tbody th { font-weight: 500; }
.list tbody th .soft, .list td .soft { display: block; }
.list td.text, .list thead th.text { text-align: left; white-space: normal; padding-left: .5rem; }
.list td.sum { font-weight: 600; }
.list .acts { display: flex; gap: .375rem 1rem; justify-content: flex-end; align-items: baseline; }
.pages { display: flex; gap: 1.5rem; padding: .75rem .25rem; font-size: .9375rem; }
.tabs { display: flex; flex-wrap: wrap; gap: .5rem; margin-bottom: 1rem; }
.tabs a { border: 1px solid var(--line); border-radius: 2rem; padding: .25rem .875rem; text-decoration: none;
  background: var(--card); color: var(--text); font-size: .9375rem; }
.tabs a[aria-current] { border-color: var(--accent); color: var(--accent); font-weight: 600; }
.filter { display: flex; flex-wrap: wrap; gap: .5rem .75rem; align-items: end; margin-bottom: 1rem; }
form { margin: 0; }
label { display: block; font-size: .875rem; font-weight: 500; }
label .soft { font-weight: 400; }
input, select { display: block; width: 100%; margin-top: .25rem; padding: .5rem .75rem; border: 1px solid var(--soft);
  border-radius: .5rem; background: var(--card); color: var(--text); font: inherit; min-height: 2.625rem; }
.filter select { width: auto; min-width: 9rem; }
.fields { display: grid; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); gap: 1rem; }
.fields .wide { grid-column: 1 / -1; }
input[aria-invalid] { border-color: var(--bad); }
.fault { color: var(--bad); font-size: .875rem; margin-top: .25rem; }
.said { border-radius: .75rem; padding: .75rem 1.25rem; margin-bottom: 1rem; background: var(--good-ground);
  color: var(--good); }
.said.bad { background: var(--bad-ground); color: var(--bad); }
.said.wait { background: var(--wait-ground); color: var(--wait); }
.button { display: inline-block; border: 1px solid transparent; border-radius: .5rem; padding: .4375rem 1rem;
  background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 600; text-decoration: none;
  text-align: center; cursor: pointer; white-space: nowrap; }
.button:hover { filter: brightness(.94); }
.button.second { background: none; border-color: var(--soft); color: var(--text); font-weight: 500; }
.button.small { padding: .1875rem .75rem; font-size: .9375rem; }
.plain { border: 0; background: none; padding: 0; color: var(--accent); font: inherit; text-decoration: underline;
  cursor: pointer; }
.deeds { display: flex; flex-wrap: wrap; gap: .75rem; align-items: center; margin-top: 1.25rem; }
.foot { max-width: 62rem; margin: 0 auto; padding: 1rem 1.25rem 2rem; color: var(--soft); font-size: .875rem;
  display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; justify-content: space-between;
  border-top: 1px solid var(--line); }
.foot a { color: var(--soft); }
.foot nav { display: flex; flex-wrap: wrap; gap: .25rem 1rem; }
.foot nav a[aria-current] { color: var(--text); text-decoration: none; font-weight: 600; }
.pay { max-width: 34rem; margin: 0 auto; padding-top: 2rem; }
.pay header { margin: 0 .25rem 1rem; }
.pay header img { display: block; max-height: 3rem; max-width: 12rem; margin-bottom: .75rem; border-radius: .25rem; }
.pay h1 { font-variant-numeric: tabular-nums; margin: .25rem 0 .5rem; }
.pay .card.alone { padding: 1.5rem; }
.pay ul { margin-top: 1rem; }
.pay .button { display: block; width: 100%; margin-top: 1.25rem; padding: .75rem 1rem; }
.pay .account { margin-top: 1rem; }
.pay .account th { white-space: nowrap; vertical-align: baseline; color: var(--soft); }
.pay .account td { white-space: normal; vertical-align: baseline; }
.pay .soft + p:not(.soft) { margin-top: .75rem; }
.pay footer { margin: 1rem .25rem; }
@media (max-width: 40rem) {
  main { padding: 1.25rem 1rem 2rem; }
  .top > div { padding: .75rem 1rem 0; }
  .foot { padding: 1rem 1rem 2rem; }
  li, .card.alone, .due { padding-left: 1rem; padding-right: 1rem; }
  .card > header, .card > header h2 { font-size: 1rem; margin: 0; }
.card > .body { padding-left: 1rem; padding-right: 1rem; }
  .chart text { font-size: 22px; }
  .top nav { gap: 1.125rem; }
  .top nav a { font-size: .875rem; }
  .chart .middle { display: none; }
  .list thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .list tbody tr { display: grid; grid-template-columns: 1fr auto; gap: .125rem .75rem; padding: .75rem 1rem; }
  .list tbody tr + tr { border-top: 1px solid var(--line); }
  .list tbody tr > * { padding: 0; border: 0 !important; align-self: center; }
  .list tbody tr > :first-child, .list tbody tr > :last-child { padding: 0; }
  .list td.text { grid-row: 2; grid-column: 1; padding: 0; }
  .list td.sum { grid-row: 1; grid-column: 2; }
  .list td.deed { grid-row: 2; grid-column: 2; }
  .list td.none { display: none; }
  .due .button { width: 100%; }
  .due form { flex: 1 1 100%; }
}
@media print {
  :root { color-scheme: light; ${LIGHT} }
  body { background: none; }
  .top { border: 0; } .top nav, .foot nav, .tabs, .filter, .pages, form, .button, .crumb, .list .deed, .skip
    { display: none !important; }
  .card { break-inside: avoid; }
}
`;
