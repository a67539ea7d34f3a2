import { seconds } from '../../../platform/schema/view.ts';
import { privilegeView } from '../entitlements/privilege.ts';
import type { FeatureRow } from './queries.ts';
import type { FeatureView } from './schema.ts';

/** A feature as the API shows it. Rules: entitlements.md#records, entitlements.md#usage-limits. */
export const featureView = (feature: FeatureRow): FeatureView => ({
  code: feature.code,
  name: feature.name,
  description: feature.description,
  privileges: feature.privileges.map(privilegeView),
  usage_limits: feature.usage_limits,
  created_at: seconds(feature.created_at),
});
