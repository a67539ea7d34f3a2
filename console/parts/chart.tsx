import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { t } from '../texts/en.ts';
import { copyText } from './copy.tsx';

export interface Series {
  label: string;
  values: readonly (number | null)[];
  /** Points of their own, without a line between them. */
  isMarked?: boolean;
}

const COLOURS = ['--accent', '--wait', '--good', '--bad'];
const DASHES = [[], [6, 4], [2, 3], [8, 3, 2, 3]];
const HEIGHT = 220;
const MARK_SIZE = 9;
const NO_MARKS: readonly number[] = [];
/** The axis begins at 0, below it only where values do: a height that is cut off exaggerates a change. */
const FROM_ZERO: uPlot.Range.Limit = { pad: 0.1, soft: 0, mode: 1 };

/**
 * Lines over time, or over units. Series differ by colour and by dash; "as table" shows the same figures as a table.
 *
 * xs      instants in seconds when `isTime`, else numbers
 * marks   places on the axis below that are marked by a line, such as where a range begins
 * format  a value as people read it
 */
export function Chart({
  title,
  xs,
  series,
  isTime = true,
  marks = NO_MARKS,
  format = String,
}: {
  title: string;
  xs: readonly number[];
  series: readonly Series[];
  isTime?: boolean;
  marks?: readonly number[];
  format?: (value: number) => string;
}) {
  const place = useRef<HTMLDivElement>(null);
  const [isTable, setTable] = useState(false);
  const data = JSON.stringify([xs, series, marks]);
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const colour = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    const axis = { stroke: colour('--soft'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false } };
    const plot = new uPlot(
      {
        width: Math.max(200, element.clientWidth),
        height: HEIGHT,
        scales: { x: { time: isTime }, y: { range: { min: FROM_ZERO, max: FROM_ZERO } } },
        legend: { show: false },
        cursor: { drag: { x: false, y: false } },
        hooks: { drawAxes: [(drawn) => drawMarks(drawn, marks, colour('--edge'))] },
        axes: [
          { ...axis, size: 32 },
          { ...axis, size: 72, values: (_plot, ticks) => ticks.map(format) },
        ],
        series: [
          {},
          ...series.map(({ label, isMarked = false }, index) => ({
            label,
            stroke: colour(COLOURS[index % COLOURS.length]!),
            width: isMarked ? 0 : 2,
            dash: DASHES[index % DASHES.length],
            points: { show: isMarked || xs.length < 2, size: MARK_SIZE, width: 2, fill: colour('--card') },
            pxAlign: 0,
          })),
        ],
      },
      [[...xs], ...series.map(({ values }) => [...values])] as uPlot.AlignedData,
      element,
    );
    const watch = new ResizeObserver(() => plot.setSize({ width: Math.max(200, element.clientWidth), height: HEIGHT }));
    watch.observe(element);
    return () => {
      watch.disconnect();
      plot.destroy();
    };
  }, [data, isTable]);
  const nameOf = (x: number) => (isTime ? new Date(x * 1000).toISOString().slice(0, 16).replace('T', ' ') : String(x));
  const csv = () =>
    [
      ['', ...series.map(({ label }) => label)],
      ...xs.map((x, n) => [nameOf(x), ...series.map(({ values }) => values[n])]),
    ]
      .map((cells) => cells.map((cell) => `"${String(cell ?? '').replaceAll('"', '""')}"`).join(','))
      .join('\r\n');
  return (
    <figure class="chart">
      <figcaption>
        <span>{title}</span>
        <span class="keys">
          {series.length > 1 &&
            series.map(({ label }, index) => (
              <span key={label} class={`key key-${index % COLOURS.length}`}>
                {label}
              </span>
            ))}
        </span>
        <button type="button" class="quiet small" aria-pressed={isTable} onClick={() => setTable(!isTable)}>
          {t.parts.asTable}
        </button>
        <button type="button" class="quiet small" onClick={() => void copyText(csv())}>
          {t.parts.copyCsv}
        </button>
      </figcaption>
      {isTable ? (
        <div class="scroll" tabIndex={0} role="region" aria-label={title}>
          <table>
            <thead>
              <tr>
                <th scope="col">{isTime ? t.parts.timeUtc : t.parts.units}</th>
                {series.map(({ label }) => (
                  <th key={label} scope="col" class="number">
                    {label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {xs.map((x, index) => (
                <tr key={x}>
                  <td>{nameOf(x)}</td>
                  {series.map(({ label, values }) => (
                    <td key={label} class="number">
                      {values[index] === null || values[index] === undefined ? '–' : format(values[index])}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : (
        <div ref={place} class="plot" role="img" aria-label={title} />
      )}
    </figure>
  );
}

/** Dashed lines from top to bottom, of those marks that lie in the picture. */
function drawMarks({ ctx, bbox, scales, valToPos }: uPlot, marks: readonly number[], colour: string): void {
  const { min = 0, max = 0 } = scales.x ?? {};
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.setLineDash([4, 4]);
  for (const mark of marks.filter((each) => each > (min ?? 0) && each < (max ?? 0))) {
    const x = Math.round(valToPos(mark, 'x', true));
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}
