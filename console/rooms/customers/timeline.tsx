import { useSignal } from '@preact/signals';
import { read } from '../../frame/api.ts';
import { addressOf } from '../../frame/found.ts';
import { route, searchOf, to } from '../../frame/route.ts';
import { useRead } from '../../frame/use-read.ts';
import { decimal, money } from '../../parts/amounts.ts';
import { Badge } from '../../parts/badge.tsx';
import { Section } from '../../parts/page.tsx';
import { Empty, Shown } from '../../parts/states.tsx';
import { Choices } from '../../parts/table.tsx';
import { day, When } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';

const words = t.customers.timeline;

interface Entry {
  at: string;
  kind: 'activity' | 'payment' | 'usage_day' | 'webhook';
  name: string;
  title: string | null;
  svc_id: string;
  resource_type: string | null;
  amount_cents: number | null;
  currency: string | null;
  status: string | null;
  path: string | null;
}

interface Timeline {
  timeline: Entry[];
  meta: { next_cursor: string | null };
}

/** What happened around a customer: changes, payments, days of usage and what was told to outside. */
export function Timeline({ id }: { id: string }) {
  const kind = route.value.query.get('kind');
  const path = `/customers/${id}/timeline`;
  const filters = { limit: 30, ...(kind ? { kinds: [kind] } : {}) };
  const reading = useRead<Timeline>(`${path}${searchOf(filters)}`);
  const further = useSignal<{ of: string; pages: Timeline[] }>({ of: '', pages: [] });
  const pages = further.value.of === `${id} ${kind}` ? further.value.pages : [];
  const more = async (cursor: string) => {
    const next = await read<Timeline>(`${path}${searchOf({ ...filters, cursor })}`);
    further.value = { of: `${id} ${kind}`, pages: [...pages, next] };
  };
  return (
    <Section title={words.title}>
      <div class="bar">
        <Choices
          label={words.which}
          name="kind"
          options={[
            ['', t.list.all],
            ['activity', words.activities],
            ['payment', words.payments],
            ['usage_day', words.usage],
            ['webhook', words.webhooks],
          ]}
        />
      </div>
      <Shown of={reading} rows={8}>
        {(first) => {
          const all = [first, ...pages];
          const cursor = all.at(-1)!.meta.next_cursor;
          const entries = all.flatMap(({ timeline }) => timeline);
          if (entries.length === 0) return <Empty title={words.none} />;
          return (
            <>
              <ul class="list card">
                {entries.map((entry) => (
                  <li key={`${entry.kind} ${entry.svc_id}`}>
                    <Badge of={entry.kind} tone="plain">
                      {words.kinds[entry.kind]}
                    </Badge>
                    <span class="what">
                      <What of={entry} />
                    </span>
                    <span class="end soft">{entry.kind === 'usage_day' ? day(entry.at) : <When at={entry.at} />}</span>
                  </li>
                ))}
              </ul>
              {cursor && (
                <p class="bar">
                  <button type="button" class="quiet" onClick={() => void more(cursor)}>
                    {words.older}
                  </button>
                </p>
              )}
            </>
          );
        }}
      </Shown>
    </Section>
  );
}

/** `invoice.payment_overdue` as words. */
const inWords = (name: string): string => {
  const text = name.replace('.', ' ').replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
};

const TYPES: Record<string, string> = {
  '/invoices/': 'invoice',
  '/credit_notes/': 'credit_note',
  '/wallets/': 'wallet',
  '/payment_requests/': 'payment_request',
  '/payments/': 'payment',
  '/subscriptions/': 'subscription',
};

function What({ of }: { of: Entry }) {
  const type = TYPES[Object.keys(TYPES).find((prefix) => of.path?.startsWith(prefix)) ?? ''];
  const href = of.path && type ? addressOf({ type, path: of.path }) : undefined;
  const amount = of.amount_cents === null ? '' : money(of.amount_cents, of.currency);
  if (of.kind === 'usage_day')
    return <a href={href ?? to('subscriptions')}>{words.usageOf(decimal(of.title), amount)}</a>;
  return (
    <>
      {inWords(of.name)}{' '}
      {href ? <a href={href}>{of.kind === 'payment' ? amount : (of.title ?? words.open)}</a> : of.title}
      {of.kind === 'payment' && of.title && <span class="soft"> {of.title}</span>}{' '}
      {of.kind === 'webhook' && of.status && <Badge of={of.status} />}
      {of.kind === 'activity' && of.status && <span class="soft"> {words.by[of.status]}</span>}
    </>
  );
}
