/** The colours of all pages, as custom properties: console, pages of customers. */
export const LIGHT = `--ground: #f5f6f8; --card: #fff; --line: #e4e7ec; --text: #1a2230; --soft: #5d6879;
  --accent: #2456c9; --on-accent: #fff; --good: #12703f; --good-ground: #e0f4e8; --bad: #b3261e; --bad-ground: #fde8e6;
  --wait: #7a5200; --wait-ground: #fdf0d3;`;

export const DARK = `--ground: #11151c; --card: #1a2029; --line: #2c3542; --text: #e8ecf2; --soft: #9aa6b6;
  --accent: #8fb2ff; --on-accent: #0d1422; --good: #7fdca5; --good-ground: #16362a; --bad: #ff9b92;
  --bad-ground: #43201e;
  --wait: #f3c86b; --wait-ground: #3a2e14;`;

const EDGES = '--edge: #7f8a9a; --amber: #e3a008; --shadow: 0 8px 28px rgb(20 30 50 / .16);';
const DARK_EDGES = '--edge: #6b7789; --amber: #e3a008; --shadow: 0 8px 28px rgb(0 0 0 / .5);';

/** The colours of the console: as the system has them, unless its page has chosen. */
export const CONSOLE_COLOURS = `
:root { color-scheme: light dark; ${LIGHT} ${EDGES} }
@media (prefers-color-scheme: dark) { :root { ${DARK} ${DARK_EDGES} } }
:root[data-theme=light] { color-scheme: light; ${LIGHT} ${EDGES} }
:root[data-theme=dark] { color-scheme: dark; ${DARK} ${DARK_EDGES} }
`;
