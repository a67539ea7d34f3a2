import { route, searchOf, to } from '../../frame/route.ts';
import { can } from '../../frame/session.ts';
import { useRead } from '../../frame/use-read.ts';
import { count, money } from '../../parts/amounts.ts';
import { Page } from '../../parts/page.tsx';
import { Empty, Shown } from '../../parts/states.tsx';
import { type PageMeta, Pager, Table } from '../../parts/table.tsx';
import { PlanEditor } from './editor.tsx';
import { PlanPage } from './plan.tsx';
import type { Plan } from './records.ts';

export default function Plans() {
  const { id, tab, query } = route.value;
  if (id === undefined) return <List />;
  if (id === 'new') return <PlanEditor key="new" from={query.get('from') ?? undefined} />;
  return tab === 'edit' ? <PlanEditor key={id} code={id} /> : <PlanPage key={id} code={id} />;
}

/** What do we sell? */
function List() {
  const list = useRead<{ plans: Plan[]; meta: PageMeta }>(
    `/plans${searchOf({ per_page: 25, page: route.value.query.get('page') ?? 1 })}`,
  );
  const create = can('plan', 'write') && (
    <a class="button" href={to('plans', 'new')}>
      New plan
    </a>
  );
  return (
    <Page title="Plans" under="What a period costs, and what each unit costs." actions={create}>
      <Shown of={list}>
        {({ plans, meta }) =>
          plans.length === 0 ? (
            <Empty title="No plans yet">
              <p class="soft">A plan holds the fee of a period and the prices of usage.</p>
              {create}
            </Empty>
          ) : (
            <>
              <Table
                label="Plans"
                rows={plans}
                keyOf={({ svc_id }) => svc_id}
                href={({ code }) => to('plans', code)}
                columns={[
                  { head: 'Name', cell: ({ name }) => name },
                  { head: 'Code', cell: ({ code }) => <code>{code}</code> },
                  {
                    head: 'Fee',
                    cell: (plan) => `${money(plan.amount_cents, plan.amount_currency)} ${plan.interval}`,
                    isNumber: true,
                  },
                  {
                    head: 'Usage',
                    cell: ({ charges }) => charges.map((each) => each.billable_metric_code).join(', ') || '–',
                    isExtra: true,
                  },
                  {
                    head: 'Active subscriptions',
                    cell: (plan) => count(plan.active_subscriptions_count),
                    isNumber: true,
                    isExtra: true,
                  },
                ]}
              />
              <Pager meta={meta} />
            </>
          )
        }
      </Shown>
    </Page>
  );
}
