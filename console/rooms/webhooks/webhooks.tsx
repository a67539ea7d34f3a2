import { go, route, searchOf, to } from '../../frame/route.ts';
import { can } from '../../frame/session.ts';
import { useRead } from '../../frame/use-read.ts';
import { Badge } from '../../parts/badge.tsx';
import { Action, FormDialog } from '../../parts/form.tsx';
import { Offers } from '../../parts/offers.tsx';
import { Facts, Page, Section } from '../../parts/page.tsx';
import { Empty, Shown } from '../../parts/states.tsx';
import { type PageMeta, Pager, Table } from '../../parts/table.tsx';
import { When } from '../../parts/times.tsx';
import { t } from '../../texts/en.ts';
import { Deliveries, type Delivery } from './deliveries.tsx';
import { EndpointHealth, HealthCells } from './health.tsx';

export interface Endpoint {
  svc_id: string;
  webhook_url: string;
  signature_algo: string;
  name: string | null;
  event_types: string[] | null;
  status: string;
  disabled_at: string | null;
  disabled_reason: string | null;
  created_at: string;
}

export default function Webhooks() {
  const { id } = route.value;
  return id === undefined ? <List /> : <EndpointPage key={id} id={id} />;
}

/** Did we tell them? */
function List() {
  const list = useRead<{ webhook_endpoints: Endpoint[]; meta: PageMeta }>(
    `/webhook_endpoints${searchOf({ per_page: 25, page: route.value.query.get('page') ?? 1 })}`,
  );
  return (
    <Page
      title={t.webhooks.title}
      under={t.webhooks.under}
      actions={
        can('webhook_endpoint', 'write') && (
          <Action text={t.webhooks.newEndpoint} isMain>
            {(close) => <EndpointForm onClose={close} />}
          </Action>
        )
      }
    >
      <Shown of={list}>
        {({ webhook_endpoints, meta }) =>
          webhook_endpoints.length === 0 ? (
            <Empty title={t.webhooks.noEndpoints}>
              <p class="soft">{t.webhooks.noEndpointsHint}</p>
            </Empty>
          ) : (
            <>
              <Table
                label={t.webhooks.endpoints}
                rows={webhook_endpoints}
                keyOf={({ svc_id }) => svc_id}
                href={({ svc_id }) => to('webhooks', svc_id)}
                columns={[
                  { head: t.webhooks.address, cell: ({ name, webhook_url }) => name ?? webhook_url },
                  {
                    head: t.webhooks.state,
                    cell: ({ status }) => <Badge of={status === 'enabled' ? 'active' : status} />,
                  },
                  { head: t.webhooks.health.lastDay, cell: ({ svc_id }) => <HealthCells id={svc_id} /> },
                  {
                    head: t.webhooks.eventTypes,
                    cell: ({ event_types }) => (event_types ? t.webhooks.typeCount(event_types.length) : 'everything'),
                    isExtra: true,
                  },
                  { head: t.webhooks.signedBy, cell: ({ signature_algo }) => signature_algo, isExtra: true },
                  { head: t.webhooks.since, cell: ({ created_at }) => <When at={created_at} />, isExtra: true },
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

function EndpointPage({ id }: { id: string }) {
  const path = `/webhook_endpoints/${encodeURIComponent(id)}`;
  const reading = useRead<{ webhook_endpoint: Endpoint }>(path);
  const status = route.value.query.get('status');
  const deliveries = useRead<{ webhooks: Delivery[]; meta: PageMeta }>(
    `${path}/webhooks${searchOf({ per_page: 25, page: route.value.query.get('page') ?? 1, status })}`,
  );
  return (
    <Shown of={reading}>
      {({ webhook_endpoint: endpoint }) => (
        <Page
          title={endpoint.name ?? endpoint.webhook_url}
          badge={<Badge of={endpoint.status === 'enabled' ? 'active' : endpoint.status} />}
          back={{ href: to('webhooks'), text: t.webhooks.title }}
          under={endpoint.name ? endpoint.webhook_url : undefined}
          actions={
            <>
              <Offers
                of={[
                  {
                    text: t.webhooks.sendTest,
                    submit: t.webhooks.send,
                    needs: 'webhook_endpoint',
                    about: t.webhooks.sendTestAbout,
                    command: () => ({ method: 'POST', path: `${path}/test` }),
                  },
                ]}
              />
              {can('webhook_endpoint', 'write') && (
                <Action text={t.webhooks.edit}>
                  {(close) => <EndpointForm endpoint={endpoint} onClose={close} />}
                </Action>
              )}
              <Offers
                of={[
                  {
                    text: t.webhooks.delete,
                    title: t.webhooks.deleteTitle,
                    needs: 'webhook_endpoint',
                    typed: 'delete',
                    about: t.webhooks.deleteAbout,
                    onDone: () => go(to('webhooks')),
                    command: () => ({ method: 'DELETE', path }),
                  },
                ]}
              />
            </>
          }
        >
          <div class="card padded">
            <Facts
              of={[
                [t.webhooks.signedBy, endpoint.signature_algo],
                [t.webhooks.eventTypes, endpoint.event_types?.join(', ') ?? 'everything'],
                [t.webhooks.since, <When at={endpoint.created_at} />],
                ...(endpoint.disabled_at
                  ? [
                      [t.webhooks.disabled, <When at={endpoint.disabled_at} />] as const,
                      [t.webhooks.why, endpoint.disabled_reason] as const,
                    ]
                  : []),
              ]}
            />
          </div>
          <EndpointHealth path={path} />
          <Section title={t.webhooks.deliveries}>
            <Deliveries list={deliveries} />
          </Section>
        </Page>
      )}
    </Shown>
  );
}

function EndpointForm({ endpoint, onClose }: { endpoint?: Endpoint; onClose: () => void }) {
  return (
    <FormDialog
      title={endpoint ? t.webhooks.editTitle : t.webhooks.newEndpoint}
      submit={endpoint ? t.webhooks.save : t.webhooks.createEndpoint}
      onClose={onClose}
      fields={[
        {
          name: 'webhook_url',
          label: t.webhooks.address,
          isNeeded: true,
          value: endpoint?.webhook_url ?? '',
          placeholder: t.webhooks.addressExample,
        },
        { name: 'name', label: t.webhooks.name, value: endpoint?.name ?? '' },
        {
          name: 'signature_algo',
          label: t.webhooks.signedBy,
          type: 'select',
          value: endpoint?.signature_algo ?? 'hmac',
          options: [
            ['hmac', t.webhooks.hmacAlgorithm],
            ['jwt', t.webhooks.jwtAlgorithm],
          ],
        },
      ]}
      command={({ name, ...sent }) => ({
        method: endpoint ? 'PUT' : 'POST',
        path: endpoint ? `/webhook_endpoints/${endpoint.svc_id}` : '/webhook_endpoints',
        body: { webhook_endpoint: { ...sent, name: name === '' ? null : name } },
      })}
    />
  );
}
