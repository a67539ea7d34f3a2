import { Decimal, max, ONE, ZERO } from '../../../engine/money/decimal.ts';
import { type Html, html } from '../../../platform/html.ts';

/** A day or another step of a chart, its height, and how a person reads both. */
export interface Bar {
  label: string;
  value: Decimal;
  shown: string;
}

const QUARTERS = 4;
const NICE = [1, 2, 5, 10];

/**
 * Marks of an axis from 0: in steps of the least 1, 2 or 5 times a power of ten that is a quarter of the greatest value
 * or more, up to the first at or above it.
 *
 *   5460 → 0, 2000, 4000, 6000
 *
 * Rule: portal.md#charts.
 */
export function axisOf(greatest: Decimal): Decimal[] {
  if (!greatest.gt(0)) return [ZERO, ONE];
  const least = greatest.div(QUARTERS);
  const power = new Decimal(10).pow(least.log(10).floor());
  // The logarithm of 60 digits may be a hair beside the power that it stands for.
  const powers = [power.div(10), power, power.times(10)];
  const step = powers.flatMap((each) => NICE.map((nice) => each.times(nice))).find((each) => each.gte(least))!;
  const marks = [ZERO];
  while (marks.at(-1)!.lt(greatest)) marks.push(marks.at(-1)!.plus(step));
  return marks;
}

const WIDTH = 640;
const HEIGHT = 168;
/** Room for the marks on the left, for the labels below. */
const LEFT = 92;
const TOP = 14;
const BOTTOM = 30;
const PLOT_WIDTH = WIDTH - LEFT - 4;
const PLOT_HEIGHT = HEIGHT - TOP - BOTTOM;
/** Part of a step that its bar takes. */
const BAR_PART = 0.72;
/** A figure that is not nothing can be seen. */
const LEAST_HEIGHT = 1.5;

const at = (place: number): string => place.toFixed(2).replace(/\.?0+$/, '');

/**
 * Bars over time as a picture, with all figures as a table below it: no script, no style attribute.
 *
 * id     of the picture, unique on the page
 * marks  how a mark of the axis is read
 */
export function barChart(
  bars: readonly Bar[],
  words: { id: string; title: string; description: string; asTable: string; step: string; value: string },
  marks: (value: Decimal) => string,
): Html {
  const axis = axisOf(bars.reduce((greatest, { value }) => max(greatest, value), ZERO));
  const top = axis.at(-1)!;
  const heightOf = (value: Decimal): number =>
    value.gt(0) ? Math.max(LEAST_HEIGHT, value.div(top).times(PLOT_HEIGHT).toNumber()) : 0;
  const step = PLOT_WIDTH / Math.max(1, bars.length);
  const { id, title, description, asTable } = words;
  const named = bars.length === 0 ? [] : [0, Math.floor((bars.length - 1) / 2), bars.length - 1];
  return html`<svg class="chart" role="img" aria-labelledby="${id}-title ${id}-text" viewBox="0 0 ${String(WIDTH)} ${String(HEIGHT)}">
<title id="${id}-title">${title}</title><desc id="${id}-text">${description}</desc>
${axis.map((mark) => {
  const y = at(TOP + PLOT_HEIGHT - mark.div(top).times(PLOT_HEIGHT).toNumber());
  return html`<line x1="${String(LEFT)}" x2="${String(WIDTH)}" y1="${y}" y2="${y}"/><text class="mark" x="${String(LEFT - 8)}" y="${y}" dy=".35em">${marks(mark)}</text>
`;
})}<g stroke-width="${at(step * BAR_PART)}">${bars.map(({ label, value, shown }, n) => {
    const height = heightOf(value);
    const x = at(LEFT + (n + 0.5) * step);
    return (
      height > 0 &&
      html`<path d="M${x} ${at(TOP + PLOT_HEIGHT)}v-${at(height)}"><title>${label}: ${shown}</title></path>
`
    );
  })}</g>${[...new Set(named)].map((n, nth, all) => {
    const side = nth === 0 ? 'first' : nth === all.length - 1 ? 'last' : 'middle';
    const x = side === 'first' ? LEFT : side === 'last' ? WIDTH : LEFT + (n + 0.5) * step;
    return html`<text class="${side}" x="${at(x)}" y="${String(HEIGHT - 8)}">${bars[n]!.label}</text>`;
  })}
</svg>
<details><summary>${asTable}<span class="hidden"> – ${title}</span></summary>
<table><thead><tr><th scope="col">${words.step}</th><th scope="col">${words.value}</th></tr></thead>
<tbody>${bars.map(({ label, shown }) => html`<tr><th scope="row">${label}<td>${shown}`)}</table></details>`;
}
