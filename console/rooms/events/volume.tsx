import { route, searchOf } from '../../frame/route.ts';
import { useRead } from '../../frame/use-read.ts';
import { count } from '../../parts/amounts.ts';
import { Chart } from '../../parts/chart.tsx';
import { Figure } from '../../parts/figure.tsx';
import { Choices } from '../../parts/table.tsx';
import { t } from '../../texts/en.ts';

const words = t.events.volume;

interface Volume {
  step: 'minute' | 'hour' | 'day';
  from: string;
  series: { code: string | null; stored: number[]; unmatched: number[] }[];
  totals: { stored: number; unmatched: number; replayed: number | null; rejected: number | null };
}

const STEP_SECONDS = { minute: 60, hour: 3600, day: 86_400 };
/** Steps of the choices of the address; without one the last hour. */
const STEPS: Record<string, Volume['step']> = { day: 'hour', month: 'day' };
const MOST_LINES = 4;

/** The path of the volume that a page shows: by default of the last hour. */
const pathOf = (span: string, code: string | null): string =>
  `/event_volume${searchOf({ step: STEPS[span] ?? 'minute', code })}`;

/** Whether events arrive, of all metrics or of one, in real time. */
export function EventVolume() {
  const { query } = route.value;
  const path = pathOf(query.get('span') ?? '', query.get('code'));
  const { data } = useRead<{ event_volume: Volume }>(path, { everySeconds: 10 });
  const volume = data?.event_volume;
  return (
    <div class="volume">
      <Choices
        label={words.span}
        name="span"
        options={[
          ['', words.hour],
          ['day', words.day],
          ['month', words.month],
        ]}
      />
      {volume && <Shown of={volume} path={path} />}
    </div>
  );
}

function Shown({ of: volume, path }: { of: Volume; path: string }) {
  const { totals, series } = volume;
  const steps = series[0]?.stored.length ?? 0;
  const start = Date.parse(volume.from) / 1000;
  const xs = Array.from({ length: steps }, (_, index) => start + index * STEP_SECONDS[volume.step]);
  const shown = series.slice(0, MOST_LINES).map(({ code, stored }) => ({
    label: code === null ? words.others : code === '' ? words.noMetric : code,
    values: stored,
  }));
  const figure = (name: 'stored' | 'unmatched' | 'replayed' | 'rejected', tone?: 'bad') => {
    const value = totals[name];
    return value === null ? null : (
      <Figure
        label={words[name]}
        value={count(value)}
        tone={value > 0 ? tone : undefined}
        note={words.notes[name]}
        origin={{ path, formula: words.formulas[name], answer: totals }}
      />
    );
  };
  return (
    <>
      <div class="figures">
        {figure('stored')}
        {figure('unmatched', 'bad')}
        {figure('replayed')}
        {figure('rejected', 'bad')}
      </div>
      {steps > 1 && (
        <Chart
          title={words.title(words.steps[volume.step])}
          xs={xs}
          series={shown}
          format={(value) => count(Math.round(value))}
        />
      )}
    </>
  );
}
