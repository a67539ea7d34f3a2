import { useRead } from '../../frame/use-read.ts';
import { money } from '../../parts/amounts.ts';
import { Bars } from '../../parts/bars.tsx';
import { Section } from '../../parts/page.tsx';
import { t } from '../../texts/en.ts';
import type { CurrencyOverview } from './overview.ts';

interface Movement {
  amount_currency: string;
  starting_mrr: number;
  mrr_new: number;
  mrr_expansion: number;
  mrr_contraction: number;
  mrr_churn: number;
  ending_mrr: number;
}

const PARTS = [
  ['mrr_new', t.home.mrrNew, 'good'],
  ['mrr_expansion', t.home.mrrExpansion, 'good'],
  ['mrr_contraction', t.home.mrrContraction, 'bad'],
  ['mrr_churn', t.home.mrrChurn, 'bad'],
] as const;

/** How recurring revenue moved since the month began, by currency. */
export function Movements() {
  const { data } = useRead<{ mrr_movements: Movement[] }>('/analytics/mrr_movements', { everySeconds: 30 });
  const currencies = [...new Set(data?.mrr_movements.map(({ amount_currency }) => amount_currency))];
  if (!data || currencies.length === 0) return null;
  return (
    <Section title={t.home.movementsTitle}>
      {currencies.map((currency) => {
        const rows = data.mrr_movements.filter(({ amount_currency }) => amount_currency === currency);
        const bar = (label: string, value: number, tone?: 'good' | 'bad') => ({
          label,
          value,
          text: money(value, currency),
          tone,
        });
        return (
          <div class="card padded" key={currency}>
            <Bars
              label={t.home.movementsLabel(currency)}
              of={[
                bar(t.home.mrrStart, rows[0]!.starting_mrr),
                ...PARTS.map(([key, label, tone]) =>
                  bar(
                    label,
                    rows.reduce((sum, row) => sum + row[key], 0),
                    tone,
                  ),
                ),
                bar(t.home.mrrNow, rows.at(-1)!.ending_mrr),
              ]}
            />
          </div>
        );
      })}
    </Section>
  );
}

/** What is overdue, by how many days. */
export function Ageing({ currencies }: { currencies: readonly CurrencyOverview[] }) {
  const late = currencies.filter(({ overdue }) => overdue.total_cents > 0);
  if (late.length === 0) return null;
  return (
    <Section title={t.home.ageingTitle}>
      {late.map(({ currency, overdue }) => (
        <div class="card padded" key={currency}>
          <Bars
            label={t.home.ageingLabel(currency)}
            of={Object.entries(overdue.ageing).map(([days, cents]) => ({
              label: `${days.replace('-', ' to ').replace('+', ' and more')} days`,
              value: cents,
              text: money(cents, currency),
              tone: 'bad' as const,
            }))}
          />
        </div>
      ))}
    </Section>
  );
}
