import type { ComponentChildren } from 'preact';
import { to } from '../../frame/route.ts';
import { decimal, money } from '../../parts/amounts.ts';
import { type Column, Table } from '../../parts/table.tsx';
import { day } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';
import type { Items, WholeVersion } from './records.ts';

const words = t.quotes;

type Part = Items[string][number] & { kind: string };

const ROOM_OF: Record<string, string> = { plans: 'plans', addOns: 'add-ons', coupons: 'coupons' };

/** The parts of an offer: what it is, its terms, and what is billed once for it. */
export function OfferedItems({ of: version }: { of: WholeVersion }) {
  const parts: Part[] = Object.entries(version.billing_items ?? {}).flatMap(([kind, list]) =>
    list.map((item) => ({ kind, ...item })),
  );
  if (parts.length === 0) return <p class="soft">{words.nothingOffered}</p>;
  const totals = parts.map(({ payload }) => payload?.totalAmountCents);
  const isBilledOnce = totals.every((total) => total !== undefined);
  const total = totals.reduce<number>((sum, each) => sum + (each ?? 0), 0);
  const amount: Column<Part> = {
    head: words.amount,
    cell: ({ payload }) => money(payload?.totalAmountCents, version.currency),
    isNumber: true,
    ...(parts.length > 1 ? { foot: money(total, version.currency) } : {}),
  };
  return (
    <Table
      label={words.versionOf(version.version)}
      rows={parts}
      keyOf={({ kind, id, localId }) => `${kind} ${localId ?? id}`}
      columns={[
        {
          head: words.what,
          cell: (part) => <What of={part} />,
          ...(isBilledOnce && parts.length > 1 ? { foot: words.total } : {}),
        },
        { head: words.terms, cell: (part) => termsOf(part, version.currency) },
        ...(isBilledOnce ? [amount] : []),
      ]}
    />
  );
}

function What({ of: { kind, payload } }: { of: Part }): ComponentChildren {
  const [room, code] = [ROOM_OF[kind], payload?.code];
  return (
    <>
      {room && code ? <a href={to(room, code)}>{code}</a> : (text(payload?.name) ?? words.items[kind])}
      <span class="second">{words.items[kind] ?? kind}</span>
    </>
  );
}

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
const number = (value: unknown): string => decimal(typeof value === 'number' ? value : text(value));

function termsOf({ kind, payload = {}, overrides }: Part, currency: string | null): string {
  const terms: (string | false | undefined)[] = [];
  if (kind === 'addOns') terms.push(words.unitsAt(number(payload.units), money(payload.unitAmountCents, currency)));
  if (kind === 'plans') {
    const start = text(payload.startDate);
    const end = text(payload.endDate);
    terms.push(start && words.begins(day(start)), end && words.ends(day(end)), text(payload.subscriptionName));
    if (overrides && Object.keys(overrides).length > 0) terms.push(words.ownTerms);
  }
  if (kind === 'coupons')
    terms.push(
      payload.percentageRate === undefined
        ? payload.amountCents !== undefined && money(payload.amountCents as number, currency)
        : `${number(payload.percentageRate)} %`,
    );
  if (kind === 'walletCredits') terms.push(words.credits(number(payload.paidCredits), number(payload.grantedCredits)));
  const shown = terms.filter((each) => each);
  return shown.length === 0 ? '–' : shown.join(' · ');
}
