import type { Sql } from '../../src/platform/db/connect.ts';
import type { OrganizationId } from '../../src/platform/ids.ts';
import type { Client } from './client.ts';
import type { TestService } from './service.ts';
import { until } from './until.ts';
import { ok, type Shown, type Words, wordsOf } from './words.ts';

const ADVANCE_WITHIN_MS = 60_000;

export type Invoice = Shown;

/** A sandbox organization at a frozen instant, and the words in which tests speak of it. */
export interface Story extends Words {
  client: Client;
  organizationId: string;
  /** Lets time pass, and everything that falls due happen. */
  advanceTo(instant: string): Promise<void>;
  /** Invoices oldest first, with their parts, once there are `count`. */
  invoices(count: number, customer?: string): Promise<Invoice[]>;
}

export async function openStory(service: Pick<TestService, 'org' | 'sql'>, now: string): Promise<Story> {
  const client = await service.org({ sandbox: true });
  await ok(client.post('/test_clock', { test_clock: { frozen_time: now } }));
  const words = wordsOf(client);
  return {
    ...words,
    client,
    organizationId: client.organization.organization_id,
    async advanceTo(instant) {
      await ok(client.post('/test_clock/advance', { test_clock: { frozen_time: instant } }));
      await until(() => hasStopped(service.sql, client.organization.organization_id), ADVANCE_WITHIN_MS);
      const { test_clock } = (await client.get('/test_clock')).body;
      if (test_clock.status !== 'ready') throw new Error(JSON.stringify(test_clock.error));
    },
    async invoices(count, customer = 'acme') {
      const list: Invoice[] = await until(async () => {
        const { body } = await client.get(`/customers/${customer}/invoices?per_page=100`);
        return body.invoices?.length === count ? body.invoices : undefined;
      });
      const whole = await Promise.all(list.map(({ svc_id }) => words.invoice(svc_id)));
      return whole.reverse();
    },
  };
}

/** Asked of the database: by requests, the question cost a quarter of what the advance of a month costs. */
async function hasStopped(sql: Sql, organizationId: OrganizationId): Promise<boolean> {
  const clocks = await sql`
    select from test_clocks where organization_id = ${organizationId} and status = 'advancing'`;
  return clocks.length === 0;
}

/** The windows of an invoice with one line. */
export const periodOf = (invoice: Invoice): Record<string, string> => invoice.billing_periods[0];
