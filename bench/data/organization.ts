import { createOrganization } from '../../src/areas/tenancy/organizations/commands.ts';
import { loadConfig } from '../../src/platform/config.ts';
import type { Environment } from '../harness/environment.ts';
import { settingsOf } from '../harness/processes.ts';

/** Limits so high that nothing is refused; the lease still asks in chunks of 16 (benchmark.md#harness). */
const LIMIT_PER_SECOND = 1_000_000;

export interface BenchOrganization {
  id: string;
  apiKey: string;
  apiKeyId: string;
}

export async function createBenchOrganization(environment: Environment, name: string): Promise<BenchOrganization> {
  const organization = await createOrganization(
    environment.sql,
    { name, sandbox: false },
    loadConfig(settingsOf(environment)),
  );
  await environment.sql`
    update organizations
    set rate_limit_events = ${LIMIT_PER_SECOND}, rate_limit_events_bulk = ${LIMIT_PER_SECOND},
      rate_limit_current_usage = ${LIMIT_PER_SECOND}, rate_limit_access = ${LIMIT_PER_SECOND},
      rate_limit_default = ${LIMIT_PER_SECOND}
    where id = ${organization.organization_id}`;
  const [key] = await environment.sql<{ id: string }[]>`
    select id from api_keys where organization_id = ${organization.organization_id}`;
  return { id: organization.organization_id, apiKey: organization.api_key, apiKeyId: key!.id };
}
