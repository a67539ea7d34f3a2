import { useRead } from '../../frame/use-read.ts';
import { count, money } from '../../parts/amounts.ts';
import { Chart } from '../../parts/chart.tsx';
import { Figure } from '../../parts/figure.tsx';
import { Section } from '../../parts/page.tsx';
import { day } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';

const words = t.wallets.burnDown;

interface Days {
  currency: string;
  points: { day: string; ongoing_balance_cents: number; added_cents: number }[];
  daily_rate_cents: string | null;
  days_left: number | null;
  exhausted_on: string | null;
  next_top_up_on: string | null;
}

const SOON_DAYS = 7;

/** How a wallet was used up day by day, with its top-ups, and how long it lasts. */
export function BurnDown({ path }: { path: string }) {
  const asked = `${path}/burn_down?days=90`;
  const { data } = useRead<{ burn_down: Days }>(asked, { everySeconds: 30 });
  const shown = data?.burn_down;
  if (!shown || shown.points.length === 0) return null;
  const { points, currency, days_left: left } = shown;
  return (
    <Section title={words.title}>
      <div class="figures">
        <Figure
          label={words.daysLeft}
          value={lasting(shown)}
          tone={left !== null && left <= SOON_DAYS ? 'bad' : undefined}
          note={noteOf(shown)}
          origin={{ path: asked, formula: words.daysFormula }}
        />
        <Figure
          label={words.rate}
          value={shown.daily_rate_cents === null ? '–' : money(rounded(shown.daily_rate_cents), currency)}
          note={words.rateNote}
          origin={{ path: asked, formula: words.rateFormula }}
        />
      </div>
      {points.length > 1 && (
        <Chart
          title={words.chart}
          xs={points.map((point) => Date.parse(`${point.day}T00:00:00Z`) / 1000)}
          series={[
            { label: words.balance, values: points.map((point) => point.ongoing_balance_cents) },
            ...(points.some((point) => point.added_cents > 0)
              ? [
                  {
                    label: words.added,
                    values: points.map(({ added_cents: added }) => (added > 0 ? added : null)),
                    isMarked: true,
                  },
                ]
              : []),
          ]}
          format={(cents) => money(Math.round(cents), currency)}
        />
      )}
    </Section>
  );
}

/** Whole cents of a rate, half up. */
function rounded(rate: string): number {
  const [whole = '0', fraction = ''] = rate.split('.');
  return Number(whole) + (fraction >= '5' ? 1 : 0);
}

function lasting({ days_left: left, daily_rate_cents: rate }: Days): string {
  if (left === 0) return words.today;
  if (left !== null) return words.days(count(left));
  return rate === null ? words.unknown : words.forEver;
}

function noteOf({ days_left: left, exhausted_on: on, daily_rate_cents: rate, next_top_up_on: next }: Days): string {
  if (next !== null) return words.nextTopUp(day(next));
  if (left === 0) return '';
  if (on !== null) return words.until(day(on));
  return rate === null ? words.tooYoung : '';
}
