import { Temporal } from 'temporal-polyfill';
import { z } from 'zod';
import { dayStart } from '../../../engine/calendar/local-day.ts';
import { EU_STANDARD_RATES } from '../../../engine/taxes/eu/standard-rates.ts';
import { EU_TERRITORIES } from '../../../engine/taxes/eu/territories.ts';
import type { Db } from '../../../platform/db/connect.ts';
import { inReach } from '../../../platform/db/in-reach.ts';
import { keyset, nextOf, type Placed } from '../../../platform/db/keyset.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { type Page, periodicJob, type Reach } from '../../../platform/periodic-job.ts';
import { generateEuTaxes } from '../eu-taxes/generate-eu-taxes.ts';

interface SellingEntity extends Placed {
  organization_id: OrganizationId;
  sandbox: boolean;
  timezone: string;
  /** When the EU taxes were last created or updated. */
  generated_at: Temporal.Instant;
}

/** Days on which a rate changes, except the first rate, which also covers all earlier dates. */
const CHANGES = [...Object.values(EU_STANDARD_RATES), ...EU_TERRITORIES.map(({ rates }) => rates)]
  .flatMap((rates) => rates.slice(1).map(({ from }) => Temporal.PlainDate.from(from)))
  .sort(Temporal.PlainDate.compare);

/**
 * Gives the generated taxes of an organization their new rates on the day from which these hold, by the zone of its
 * oldest entity that has automatic taxes. Drafts take them when they are next computed, what is final stays.
 *
 * Rule: eu-taxes.md "the table is data with effective dates".
 */
export const euTaxRates = periodicJob({
  name: 'eu-tax-rates',
  item: z.object({ timezone: z.string() }),
  async select(sql, at, reach, page) {
    const selling = await listSelling(sql, reach, page);
    const due = selling.filter((entity) => {
      const change = nextChange(entity);
      return change !== undefined && Temporal.Instant.compare(change, at) <= 0;
    });
    return {
      items: due.map(({ organization_id, sandbox, timezone, generated_at }) => ({
        organization_id,
        sandbox,
        item: { timezone },
        key: `${organization_id}-${generated_at.epochMilliseconds}`,
        resource: { type: 'Organization', id: organization_id },
      })),
      next: nextOf(selling, page.limit),
    };
  },
  work: (ctx, item) => generateEuTaxes(ctx, item.timezone),
  async nextDueAt({ db, organizationId }) {
    const [entity] = await listSelling(db, { organizationId }, { limit: 1 });
    return (entity && nextChange(entity)) ?? null;
  },
});

/** The first change since an entity's taxes were made. */
const nextChange = ({ timezone, generated_at }: SellingEntity): Temporal.Instant | undefined =>
  CHANGES.map((day) => dayStart(day, timezone)).find((change) => Temporal.Instant.compare(change, generated_at) > 0);

/** The oldest such entity of each organization. */
const listSelling = (db: Db, reach: Reach, page: Page) => {
  const rows = keyset(db, page, db`entity.organization_id`);
  return db<SellingEntity[]>`
  select distinct on (entity.organization_id) entity.organization_id, organization.sandbox, entity.timezone,
    tax.generated_at, ${rows.place}
  from billing_entities entity
  join organizations organization on organization.id = entity.organization_id
  cross join lateral (
    select min(updated_at) as generated_at from taxes
    where taxes.organization_id = entity.organization_id and taxes.auto_generated and taxes.deleted_at is null) tax
  where entity.eu_tax_management and entity.deleted_at is null and tax.generated_at is not null
    and ${inReach(db, reach, db`entity.organization_id`)} and ${rows.isBehind}
  order by entity.organization_id, entity.created_at, entity.id
  limit ${page.limit}`;
};
