import { sealSecrets } from '../../src/areas/customers/payment-providers/secrets.ts';
import { reconcile } from '../../src/areas/payments/reconcile-providers/reconcile.ts';
import { loadConfig } from '../../src/platform/config.ts';
import type { OrganizationId, PaymentProviderId, ReconciliationId } from '../../src/platform/ids.ts';
import { newId } from '../../src/platform/ids.ts';
import { Later } from '../../src/platform/payments/provider-calls.ts';
import { stripeProvider } from '../../src/platform/payments/stripe/driver.ts';
import { openRuntime, type Runtime } from '../../src/platform/process/runtime.ts';
import { reactions } from '../../src/reactions.ts';
import { createBenchOrganization } from '../data/organization.ts';
import type { Environment } from '../harness/environment.ts';
import type { Effort } from '../harness/options.ts';
import { settingsOf, startProcess } from '../harness/processes.ts';
import { emptyFindings, type Findings } from '../harness/report.ts';
import { spreadOf } from '../harness/rounds.ts';

/** What the goal names: so many payments in so long, on any number that is measured. */
const PAYMENTS = 100_000;
const WITHIN_MS = 60_000;
/** Customers of the connection, which no page may count. */
const CUSTOMERS = 20_000;
/** So many are made in a statement, which ends in its time on a busy machine too. */
const MADE_AT_ONCE = 10_000;
const SECRET_KEY = 'sk_test_bench';
const MEGABYTE = 2 ** 20;

/**
 * G25: a run that compares payments with those of a provider, page by page without the pauses between pages, less the
 * time in which the same pages are only read from the provider.
 */
export async function measureReconcile(environment: Environment, { payments }: Effort): Promise<Findings> {
  const findings = emptyFindings();
  const double = await startProcess(environment, 'bench/processes/payment-lists.js', {
    BENCH_PAYMENTS: String(payments),
  });
  const config = loadConfig({ ...settingsOf(environment), STRIPE_API_URL: double.url });
  const runtime = openRuntime(config, 'bench reconcile', undefined, { reactions });
  const { id } = await createBenchOrganization(environment, 'Bench reconcile');
  const connectionId = await connectAccount(environment, runtime, id);
  await makePayments(environment, id, { connectionId, payments });

  const readMs = await timed(() => readPages(double.url));
  const before = process.memoryUsage().rss;
  const runId = await makeRun(environment, id, connectionId);
  const runMs = await timed(() => play(runtime, id as OrganizationId, runId));
  const grownBytes = process.memoryUsage().rss - before;

  const ownMs = Math.max(0, runMs - readMs) * (PAYMENTS / payments);
  findings.ratios.G25 = spreadOf([ownMs / WITHIN_MS]);
  findings.notes.push(
    `${payments} payments: ${seconds(runMs)} s, of which the provider's pages take ${seconds(readMs)} s; ` +
      `${(grownBytes / MEGABYTE).toFixed(0)} MB more memory`,
  );
  const [run] = await environment.sql<{ status: string; counts: { compared: number; equal: number } }[]>`
    select status, counts from provider_reconciliations where id = ${runId}`;
  findings.checks.push({ what: 'how the run ended', expected: 'succeeded', found: run!.status });
  findings.checks.push({ what: 'payments compared', expected: payments, found: run!.counts.compared });
  findings.checks.push({ what: 'payments equal', expected: payments, found: run!.counts.equal });
  await runtime.close();
  await double.stop();
  return findings;
}

async function timed(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** What of the run is the provider's: its pages, asked for and read one after the other. */
async function readPages(apiUrl: string): Promise<void> {
  const provider = stripeProvider({ secretKey: SECRET_KEY, supports3ds: false, requiresConsent: false, apiUrl });
  let cursor: string | null = null;
  do {
    const { next }: { next: string | null } = await provider.listPayments!({ sinceSeconds: 0, cursor });
    cursor = next;
  } while (cursor !== null);
}

async function play(runtime: Runtime, organization_id: OrganizationId, runId: ReconciliationId): Promise<void> {
  for (;;) {
    try {
      return await reconcile(runtime, { organization_id, provider_reconciliation_id: runId });
    } catch (error) {
      if (!(error instanceof Later)) throw error;
    }
  }
}

async function connectAccount({ sql }: Environment, runtime: Runtime, organizationId: string) {
  const id = newId() as PaymentProviderId;
  const sealed = await sealSecrets({ db: sql, config: runtime.config }, id, { secret_key: SECRET_KEY });
  await sql`
    insert into payment_providers (id, organization_id, provider_type, code, name, secrets, secrets_last4, settings,
      live, status, created_at, updated_at)
    values (${id}, ${organizationId}, 'stripe', 'main', 'Main', ${sql.json(sealed.secrets)},
      ${sql.json(sealed.secrets_last4)}, '{}', false, 'connected', now(), now())`;
  return id;
}

async function makePayments(
  { sql }: Environment,
  organizationId: string,
  { connectionId, payments }: { connectionId: string; payments: number },
): Promise<void> {
  await sql`
    insert into customers (id, organization_id, external_id, sequential_id, slug, payment_provider,
      payment_provider_code, payment_provider_id, provider_customer_id, billing_entity_id, created_at, updated_at)
    select gen_random_uuid(), ${organizationId}, 'payer' || number, number, 'BEN-' || number, 'stripe', 'main',
      ${connectionId}, 'cus_bench_' || number, (select id from billing_entities where organization_id = ${organizationId} limit 1),
      now(), now()
    from generate_series(1, ${CUSTOMERS}::int) as number`;
  for (let from = 1; from <= payments; from += MADE_AT_ONCE)
    await sql`
    insert into payments (id, organization_id, customer_id, payable_type, payable_id, payment_type, amount_cents,
      amount_currency, status, payment_status, payment_provider_id, provider_payment_id, created_at, updated_at)
    select gen_random_uuid(), ${organizationId}, customer.id, 'Invoice', gen_random_uuid(), 'provider', 1200, 'USD',
      'succeeded', 'succeeded', ${connectionId}, 'pi_bench_' || number,
      now() - interval '1 day' - number * interval '1 s', now() - interval '1 day'
    from generate_series(${from}::int, ${Math.min(payments, from + MADE_AT_ONCE - 1)}::int) as number
    join customers customer on customer.organization_id = ${organizationId}
      and customer.external_id = 'payer' || (number % ${CUSTOMERS}::int + 1)`;
  await sql`vacuum analyze payments, customers`;
}

async function makeRun({ sql }: Environment, organizationId: string, connectionId: string): Promise<ReconciliationId> {
  const id = newId() as ReconciliationId;
  await sql`
    insert into provider_reconciliations (id, organization_id, payment_provider_id, status, from_at, counts, created_at,
      updated_at)
    values (${id}, ${organizationId}, ${connectionId}, 'pending', now() - interval '35 days',
      '{"compared": 0, "equal": 0, "foreign": 0, "drifts": {}}', now(), now())`;
  return id;
}

const seconds = (ms: number): string => (ms / 1000).toFixed(1);
