import { to } from '../../frame/route.ts';
import type { Reading } from '../../frame/use-read.ts';
import { Badge } from '../../parts/badge.tsx';
import { Offers } from '../../parts/offers.tsx';
import { Empty, Shown } from '../../parts/states.tsx';
import { Table } from '../../parts/table.tsx';
import { When } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';
import { executes } from './offers.ts';
import type { Order } from './records.ts';

const words = t.quotes;

/** Orders with what carrying them out has made. */
export function OrderTable({ of: list }: { of: Reading<{ orders: Order[] }> & { again: () => void } }) {
  return (
    <Shown of={list}>
      {({ orders }) =>
        orders.length === 0 ? (
          <Empty title={words.noOrders}>
            <p class="soft">{words.noOrdersHint}</p>
          </Empty>
        ) : (
          <Table
            label={words.orders}
            rows={orders}
            keyOf={({ svc_id }) => svc_id}
            columns={[
              { head: words.number, cell: ({ number }) => number },
              {
                head: words.state,
                cell: ({ status }) => <Badge of={status} tone={status === 'executed' ? 'good' : undefined} />,
              },
              { head: words.executed, cell: ({ executed_at }) => <When at={executed_at} />, isExtra: true },
              { head: words.result, cell: (order) => <Made by={order} /> },
              { head: t.page.do, cell: (order) => <Offers isSmall of={[executes(order)]} /> },
            ]}
          />
        )
      }
    </Shown>
  );
}

const Made = ({ by: { execution_record: made } }: { by: Order }) => (
  <>
    {made.invoice_id && <a href={to('invoices', made.invoice_id)}>{words.invoice}</a>}{' '}
    {made.subscription_ids.map((id) => (
      <span key={id}>
        {words.subscription} <code>{id.slice(-8)}</code>{' '}
      </span>
    ))}
    {made.errors.map((error) => (
      <span key={error} class="second fault">
        {error}
      </span>
    ))}
  </>
);
