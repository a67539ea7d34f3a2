import { seconds } from '../../../platform/schema/view.ts';
import type { FeatureRow, PrivilegeJson } from './queries.ts';
import type { FeatureView, PrivilegeView } from './schema.ts';

/** A privilege as the API shows it. Rule: platform J.1. */
export const privilegeView = ({ code, name, value_type, select_options }: PrivilegeJson): PrivilegeView => ({
  code,
  name,
  value_type,
  config: value_type === 'select' ? { select_options } : {},
});

/** A feature as the API shows it. Rules: platform J.1, beyond 11.1. */
export const featureView = (feature: FeatureRow): FeatureView => ({
  code: feature.code,
  name: feature.name,
  description: feature.description,
  privileges: feature.privileges.map(privilegeView),
  usage_limits: feature.usage_limits,
  created_at: seconds(feature.created_at),
});
