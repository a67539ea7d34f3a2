import { useRead } from '../../frame/use-read.ts';
import { count, money } from '../../parts/amounts.ts';
import { day } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';

const words = t.plans.impact;

interface Counted {
  count: number;
  more: boolean;
}

export interface Impact {
  active: Counted;
  pending: Counted;
  incomplete: Counted;
  overridden: Counted;
  customers: Counted;
  drafts: Counted;
  current_usage_cents_by_currency: Record<string, number>;
  as_of: string;
}

const shown = ({ count: number, more }: Counted): string => `${count(number)}${more ? '+' : ''}`;

const useImpact = (code: string | undefined) =>
  useRead<{ impact: Impact }>(code === undefined ? null : `/plans/${encodeURIComponent(code)}/impact`);

export function ActiveCount({ code }: { code: string }) {
  const { data } = useImpact(code);
  return <span>{data ? shown(data.impact.active) : '…'}</span>;
}

/** Whom a change of the plan concerns. */
export function ImpactWords({ code }: { code: string }) {
  const { data } = useImpact(code);
  if (!data) return null;
  const { impact } = data;
  const usage = Object.entries(impact.current_usage_cents_by_currency);
  return (
    <ul class="prose">
      <li>{words.active(shown(impact.active), shown(impact.customers))}</li>
      {impact.pending.count > 0 && <li>{words.pending(shown(impact.pending))}</li>}
      {impact.overridden.count > 0 && <li>{words.overridden(shown(impact.overridden))}</li>}
      {impact.drafts.count > 0 && <li>{words.drafts(shown(impact.drafts))}</li>}
      {usage.length > 0 && (
        <li>{words.usage(usage.map(([currency, cents]) => money(cents, currency)).join(', '), day(impact.as_of))}</li>
      )}
    </ul>
  );
}
