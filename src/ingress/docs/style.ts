import { CONSOLE_COLOURS } from '../../platform/colours.ts';

/** The style of all pages of the documentation: the colours of the console, system fonts, nothing from elsewhere. */
export const STYLE = `${CONSOLE_COLOURS}
* { box-sizing: border-box; }
html { scroll-padding-top: 4.5rem; }
body { margin: 0; background: var(--card); color: var(--text); font: 1rem/1.6 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; }
a { color: var(--accent); text-underline-offset: .15em; text-decoration-thickness: 1px; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
code, pre { font-family: ui-monospace, 'SF Mono', 'Cascadia Code', Menlo, Consolas, monospace; font-size: .86em; }
:not(pre) > code { background: var(--ground); border: 1px solid var(--line); border-radius: 4px; padding: .08em .32em; overflow-wrap: anywhere; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: .6rem; background: var(--card); padding: .4rem .8rem; z-index: 9; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
[hidden] { display: none !important; }

.top { position: sticky; top: 0; z-index: 5; display: flex; align-items: center; gap: 1.25rem; height: 3.5rem; padding: 0 1.5rem; background: var(--card); border-bottom: 1px solid var(--line); }
.brand { display: flex; align-items: center; gap: .5rem; font-weight: 650; color: var(--text); text-decoration: none; white-space: nowrap; }
.brand svg { width: 1.25rem; fill: var(--accent); }
.brand span { color: var(--soft); font-weight: 400; }
.search { position: relative; flex: 1; max-width: 26rem; margin: 0; }
.search input { width: 100%; height: 2.25rem; padding: 0 .75rem; border: 1px solid var(--edge); border-radius: 8px; background: var(--ground); color: var(--text); font: inherit; font-size: .92rem; }
.search ul { position: absolute; top: 2.6rem; left: 0; width: min(34rem, 92vw); max-height: 70vh; overflow: auto; margin: 0; padding: .35rem; list-style: none; background: var(--card); border: 1px solid var(--line); border-radius: 10px; box-shadow: var(--shadow); }
.search li a { display: block; padding: .45rem .6rem; border-radius: 6px; color: var(--text); text-decoration: none; font-size: .92rem; line-height: 1.35; }
.search li small { display: block; color: var(--soft); font-size: .8rem; }
.search a[aria-selected=true], .search li a:hover { background: var(--ground); }
.links { display: flex; align-items: center; gap: 1.25rem; margin-left: auto; font-size: .92rem; }
.links a { color: var(--soft); text-decoration: none; }
.links a:hover, .links a[aria-current] { color: var(--text); }
.links a[aria-current] { font-weight: 600; }
.links button { border: 1px solid var(--line); border-radius: 8px; background: none; color: var(--soft); font: inherit; font-size: .85rem; padding: .25rem .6rem; cursor: pointer; }
.to-menu { display: none; }

.columns { display: grid; grid-template-columns: 15rem minmax(0, 46rem) 13rem; justify-content: center; gap: 0 3rem; max-width: 86rem; margin: 0 auto; padding: 0 1.5rem; }
.wide-page { grid-template-columns: 15rem minmax(0, 1fr); max-width: 100rem; }
.side { position: sticky; top: 3.5rem; align-self: start; max-height: calc(100vh - 3.5rem); overflow-y: auto; padding: 1.75rem .5rem 3rem 0; font-size: .9rem; scrollbar-width: thin; }
.side ul { list-style: none; margin: 0 0 .6rem; padding: 0; }
.side summary { cursor: pointer; padding: .22rem 0; color: var(--soft); font-weight: 550; }
.side > details > summary { color: var(--text); font-weight: 650; padding: .35rem 0; }
.side details details, .side details ul { padding-left: .8rem; }
.side li a { display: block; padding: .22rem .6rem; margin-left: -.6rem; border-radius: 6px; color: var(--soft); text-decoration: none; line-height: 1.4; }
.side li a:hover { color: var(--text); }
.side a[aria-current] { color: var(--accent); background: var(--ground); font-weight: 600; }
.here { position: sticky; top: 3.5rem; align-self: start; max-height: calc(100vh - 3.5rem); overflow-y: auto; padding: 2.6rem 0 3rem; font-size: .86rem; }
.here p { margin: 0 0 .4rem; font-weight: 600; }
.here ul { list-style: none; margin: 0; padding: 0 0 0 .8rem; border-left: 1px solid var(--line); }
.here a { display: block; padding: .18rem 0; color: var(--soft); text-decoration: none; line-height: 1.4; }
.here a:hover { color: var(--text); }

main { min-width: 0; padding: 2.2rem 0 6rem; outline: none; }
h1, h2, h3, .type { overflow-wrap: anywhere; }
.note { background: var(--ground); border: 1px solid var(--line); border-radius: .5rem; padding: .625rem .875rem; }
.note summary { cursor: pointer; font-weight: 600; }
h1 { font-size: 2rem; line-height: 1.2; letter-spacing: -.02em; margin: 0 0 1rem; }
h2 { font-size: 1.35rem; line-height: 1.3; letter-spacing: -.01em; margin: 2.6rem 0 .8rem; }
h3 { font-size: 1.05rem; line-height: 1.4; margin: 1.8rem 0 .5rem; }
h4 { font-size: .95rem; margin: 1.4rem 0 .3rem; }
.anchor { color: inherit; text-decoration: none; }
.anchor:hover::after { content: ' #'; color: var(--soft); }
p { margin: 0 0 1rem; }
main ul, main ol { padding-left: 1.3rem; }
main li { margin: .25rem 0; }
.lead { font-size: 1.1rem; color: var(--soft); }
blockquote { margin: 1rem 0; padding: .2rem 1rem; border-left: 3px solid var(--accent); color: var(--soft); }
hr { border: 0; border-top: 1px solid var(--line); margin: 2rem 0; }

.code { position: relative; margin: 1rem 0; }
pre { margin: 1rem 0; padding: .9rem 1rem; overflow-x: auto; background: var(--ground); border: 1px solid var(--line); border-radius: 10px; line-height: 1.55; font-size: .92rem; }
.code pre { margin: 0; }
pre[data-lang=json], pre[data-lang=text] { border-style: dashed; }
.copy { position: absolute; top: .45rem; right: .45rem; padding: .15rem .55rem; border: 1px solid var(--line); border-radius: 6px; background: var(--card); color: var(--soft); font: inherit; font-size: .78rem; cursor: pointer; }
.copy:hover { color: var(--text); border-color: var(--edge); }
.wide { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; line-height: 1.5; }
th { text-align: left; font-weight: 600; color: var(--soft); font-size: .85rem; }
th, td { padding: .5rem .9rem .5rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td :not(pre) > code, td > code { overflow-wrap: normal; }
tr:target td, :target { background: color-mix(in srgb, var(--accent) 10%, transparent); }

.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: 1rem; list-style: none; padding: 0 !important; margin: 1rem 0 2rem; }
.cards li { margin: 0; }
.cards a { display: block; height: 100%; padding: .9rem 1.1rem; border: 1px solid var(--line); border-radius: 12px; text-decoration: none; color: var(--text); font-weight: 600; }
.cards a:hover { border-color: var(--accent); }
.cards span { display: block; margin-top: .2rem; font-weight: 400; font-size: .9rem; line-height: 1.5; color: var(--soft); }
.begin { display: inline-block; padding: .55rem 1.1rem; border-radius: 8px; background: var(--accent); color: var(--on-accent); text-decoration: none; font-weight: 600; }
.steps { counter-reset: step; list-style: none; padding: 0 !important; }
.routes { list-style: none; padding: 0 !important; margin: .4rem 0 1.4rem; }
.routes li { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; padding: .32rem 0; border-bottom: 1px solid var(--line); margin: 0; font-size: .92rem; }
.routes code { flex: none; max-width: 100%; }
.routes code, .route code { background: none; border: 0; padding: 0; color: var(--soft); }
.verb { display: inline-block; min-width: 3.2em; font-weight: 700; color: var(--accent); }
.verb.post { color: var(--good); }
.verb.put, .verb.patch { color: var(--wait); }
.verb.delete { color: var(--bad); }

.operation { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 30rem); gap: 0 3rem; padding: 1rem 0 2.2rem; border-top: 1px solid var(--line); margin-top: 1.5rem; }
.operation > h2 { grid-column: 1 / -1; margin: 1.4rem 0 .4rem; }
.record, .operation { scroll-margin-top: 4rem; }
div:target { background: none; }
.route { margin: 0 0 .8rem; }
.samples > * { margin: 0 0 1rem; }
.samples { position: sticky; top: 4.2rem; align-self: start; max-height: calc(100vh - 5rem); overflow-y: auto; padding-top: .3rem; }
.samples pre { margin: 0; font-size: .86rem; }
figcaption, .samples summary { font-size: .82rem; font-weight: 600; color: var(--soft); margin: 0 0 .35rem; }
.fields { list-style: none; padding: 0 !important; margin: .4rem 0 1rem; }
.fields li { padding: .55rem 0; border-top: 1px solid var(--line); margin: 0; }
.fields li > p { margin: .2rem 0 0; font-size: .92rem; }
.fields .fields { margin: .3rem 0 0; padding-left: 1rem !important; border-left: 2px solid var(--line); }
.fields .name { font-weight: 650; background: none; border: 0; padding: 0; color: var(--text); }
.type { color: var(--soft); font-size: .86rem; }
.must { color: var(--wait); font-size: .8rem; font-weight: 600; }
.values { color: var(--soft); font-size: .88rem; margin: .2rem 0 0; }
.words > .values { margin: 0 0 .4rem; }
summary { cursor: pointer; }
.part { margin: .8rem 0; }
.part > summary, .fields summary { font-weight: 600; font-size: .92rem; color: var(--soft); }
.record { border-top: 1px solid var(--line); }
.key { display: flex; flex-wrap: wrap; align-items: center; gap: .3rem .7rem; padding: .7rem 1rem; margin: 0 0 1.4rem; border: 1px solid var(--line); border-radius: 10px; background: var(--ground); font-size: .9rem; }
.key input { flex: 1; min-width: 12rem; height: 2rem; padding: 0 .6rem; border: 1px solid var(--edge); border-radius: 6px; background: var(--card); color: var(--text); font: inherit; font-size: .88rem; }
.turn { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 1rem; margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--line); }

@media (max-width: 82rem) {
  .columns { grid-template-columns: 14rem minmax(0, 1fr); gap: 0 2.5rem; }
  .here { display: none; }
}
@media (max-width: 70rem) {
  .operation { grid-template-columns: minmax(0, 1fr); }
  .samples { position: static; max-height: none; }
}
@media (max-width: 50rem) {
  .top { flex-wrap: wrap; height: auto; gap: .4rem 1rem; padding: .6rem 1rem; position: static; }
  html { scroll-padding-top: 1rem; }
  .search { order: 3; flex-basis: 100%; max-width: none; }
  .links { gap: .9rem; font-size: .88rem; }
  .links button { display: none; }
  .brand span { display: none; }
  .to-menu { display: inline; }
  .columns { display: flex; flex-direction: column; padding: 0 1rem; }
  .side { order: 2; position: static; max-height: none; border-top: 1px solid var(--line); padding-bottom: 4rem; }
  .side li a { padding-block: .4rem; }
  main { padding: 1.4rem 0 2.5rem; }
  h1 { font-size: 1.6rem; }
  .routes li { flex-direction: column; padding: .5rem 0; }
  pre { font-size: .84rem; }
}
@media print { .top, .side, .here, .copy, .key { display: none; } .columns { display: block; } }
`;
