import { useSignal } from '@preact/signals';
import type { Reading } from '../../frame/use-read.ts';
import { Badge } from '../../parts/badge.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Offers } from '../../parts/offers.tsx';
import { Facts } from '../../parts/page.tsx';
import { Empty, Shown } from '../../parts/states.tsx';
import { Choices, type PageMeta, Pager, Table } from '../../parts/table.tsx';
import { When } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';

export interface Delivery {
  svc_id: string;
  webhook_type: string;
  object_type: string;
  status: string;
  retries: number;
  http_status: number | null;
  payload: Record<string, unknown>;
  response: string | null;
  last_retried_at: string | null;
  created_at: string;
}

/** The log of an endpoint; a row opens what was sent and what was answered. */
export function Deliveries({
  list,
}: {
  list: Reading<{ webhooks: Delivery[]; meta: PageMeta }> & { again: () => void };
}) {
  const opened = useSignal<Delivery | undefined>(undefined);
  return (
    <>
      <div class="bar">
        <Choices
          label={t.webhooks.whichDeliveries}
          name="status"
          options={[
            ['', t.webhooks.all],
            ['succeeded', t.webhooks.delivered],
            ['pending', t.webhooks.waiting],
            ['failed', t.webhooks.failed],
          ]}
        />
      </div>
      <Shown of={list}>
        {({ webhooks, meta }) =>
          webhooks.length === 0 ? (
            <Empty title={t.webhooks.noDeliveries}>
              <p class="soft">{t.webhooks.noDeliveriesHint}</p>
            </Empty>
          ) : (
            <>
              <Table
                label={t.webhooks.deliveries}
                rows={webhooks}
                keyOf={({ svc_id }) => svc_id}
                columns={[
                  {
                    head: t.webhooks.type,
                    cell: (delivery) => (
                      <button
                        type="button"
                        class="quiet small"
                        onClick={() => {
                          opened.value = delivery;
                        }}
                      >
                        {delivery.webhook_type}
                      </button>
                    ),
                  },
                  { head: t.webhooks.state, cell: ({ status }) => <Badge of={status} /> },
                  { head: t.webhooks.answer, cell: ({ http_status }) => http_status ?? <span class="soft">–</span> },
                  { head: t.webhooks.attempts, cell: ({ retries }) => retries + 1, isNumber: true, isExtra: true },
                  { head: t.webhooks.made, cell: ({ created_at }) => <When at={created_at} />, isExtra: true },
                  {
                    head: t.webhooks.do,
                    cell: ({ svc_id, status }) => (
                      <Offers
                        of={[
                          status === 'failed' && {
                            text: t.webhooks.sendAgain,
                            needs: 'webhook_endpoint',
                            command: () => ({ method: 'POST', path: `/webhooks/${svc_id}/retry` }),
                          },
                        ]}
                      />
                    ),
                  },
                ]}
              />
              <Pager meta={meta} />
            </>
          )
        }
      </Shown>
      {opened.value && (
        <Dialog
          title={opened.value.webhook_type}
          onClose={() => {
            opened.value = undefined;
          }}
        >
          <Facts
            of={[
              [t.webhooks.state, opened.value.status],
              [t.webhooks.answer, opened.value.http_status],
              [t.webhooks.attempts, opened.value.retries + 1],
              [t.webhooks.lastAttempt, <When at={opened.value.last_retried_at ?? opened.value.created_at} />],
            ]}
          />
          {opened.value.response && (
            <>
              <h3>{t.webhooks.answerBody}</h3>
              <pre class="json">{opened.value.response}</pre>
            </>
          )}
          <h3>{t.webhooks.sentBody}</h3>
          <pre class="json">{JSON.stringify(opened.value.payload, null, 2)}</pre>
        </Dialog>
      )}
    </>
  );
}
