import { route, searchOf, to } from '../../frame/route.ts';
import { can } from '../../frame/session.ts';
import { useRead } from '../../frame/use-read.ts';
import { money } from '../../parts/amounts.ts';
import { Page } from '../../parts/page.tsx';
import { Empty, Shown } from '../../parts/states.tsx';
import { type PageMeta, Pager, Table } from '../../parts/table.tsx';
import { t } from '../../texts/en.ts';
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
    <a class="button main" href={to('plans', 'new')}>
      {t.plans.newPlan}
    </a>
  );
  return (
    <Page title={t.plans.title} under={t.plans.under} actions={create}>
      <Shown of={list}>
        {({ plans, meta }) =>
          plans.length === 0 ? (
            <Empty title={t.plans.none}>
              <p class="soft">{t.plans.noneHint}</p>
              {create}
            </Empty>
          ) : (
            <>
              <Table
                label={t.plans.title}
                rows={plans}
                keyOf={({ svc_id }) => svc_id}
                href={({ code }) => to('plans', code)}
                columns={[
                  { head: t.plans.name, cell: ({ name }) => name },
                  { head: t.plans.code, cell: ({ code }) => <code>{code}</code> },
                  {
                    head: t.plans.fee,
                    cell: (plan) => `${money(plan.amount_cents, plan.amount_currency)} ${plan.interval}`,
                    isNumber: true,
                  },
                  {
                    head: t.plans.usage,
                    cell: ({ charges }) => charges.map((each) => each.billable_metric_code).join(', ') || '–',
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
