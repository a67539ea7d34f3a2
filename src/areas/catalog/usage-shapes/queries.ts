import type { Db } from '../../../platform/db/connect.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { ExternalSubscriptionId, MetricId, OrganizationId, UsageShapeId } from '../../../platform/ids.ts';
import { type BudgetJson, budgetsOf } from './storing-budgets.ts';
import type { LimitedMetric } from './storing-catalog.ts';
import type { Shape, ShapeDefinition } from './usage-shape.ts';

export interface CatalogRow {
  id: OrganizationId;
  /** That of its shapes and that of the deployment's prices together, as `hold_shapes_version` compares it. */
  version: number;
  book_version: number;
  deployment_version: number;
  ai_settings: Record<string, unknown>;
  /** Metrics with an expression or a shape. */
  metrics: { id: MetricId; code: string; field_name: string | null; expression: string | null }[];
  shapes: Shape[];
  raw: { shape_id: UsageShapeId; external_subscription_id: ExternalSubscriptionId }[];
  /** Metrics whose usage a feature limits. */
  limited: LimitedMetric[];
  budgets: BudgetJson[];
}

/** What storing looks at, of several organizations, each as of one version: one statement, one snapshot. */
export const listCatalogs = (db: Db, organizationIds: readonly OrganizationId[]) => db<CatalogRow[]>`
  with shape as materialized (
    select id, organization_id, billable_metric_id, code, aggregation_type, field_name, property_names, state,
      keeps_days
    from usage_shapes
    where organization_id = any (${organizationIds}::uuid[]) and state in ('building', 'live')
  )
  select o.id, o.shapes_version + layer.version as version, o.book_version, layer.version as deployment_version,
    o.ai_settings,
    coalesce((
      select jsonb_agg(jsonb_build_object('id', m.id, 'code', m.code, 'field_name', m.field_name, 'expression',
        m.expression))
      from billable_metrics m
      where m.organization_id = o.id and m.deleted_at is null
        and (m.expression is not null or m.id in (select billable_metric_id from shape where organization_id = o.id))
    ), '[]') as metrics,
    coalesce((select jsonb_agg(to_jsonb(shape)) from shape where organization_id = o.id), '[]') as shapes,
    coalesce((
      select jsonb_agg(jsonb_build_object('shape_id', shape_id, 'external_subscription_id', external_subscription_id))
      from usage_raw_subscriptions where organization_id = o.id
    ), '[]') as raw,
    coalesce((
      select jsonb_agg(jsonb_build_object('code', m.code, 'aggregation_type', m.aggregation_type, 'field_name',
        m.field_name))
      from billable_metrics m
      where m.organization_id = o.id and m.deleted_at is null
        and m.id in (select billable_metric_id from feature_usage_limits where organization_id = o.id)
    ), '[]') as limited,
    ${budgetsOf(db)} as budgets
  from organizations o, price_layers layer where o.id = any (${organizationIds}::uuid[])`;

export type WantedShape = ShapeDefinition & { billable_metric_id: MetricId; is_charged: boolean };

/**
 * The wanted shapes of metrics: the names of all properties in filters, pricing groups and presentation groups of the
 * live charges on them. `is_charged` is false for a deleted metric and for one that no live charge uses.
 */
export const listWantedShapes = ({ db, organizationId }: Scope, metricIds: readonly MetricId[]) => db<WantedShape[]>`
  with charge as (
    select c.id, c.billable_metric_id, c.properties, c.accepts_target_wallet
    from charges c
    join plans p on p.organization_id = c.organization_id and p.id = c.plan_id and p.deleted_at is null
    where c.organization_id = ${organizationId} and c.billable_metric_id = any (${metricIds}::uuid[])
      and c.deleted_at is null
  ), filter as (
    select c.billable_metric_id, f."values", f.properties
    from charge c
    join charge_filters f on f.organization_id = ${organizationId} and f.charge_id = c.id and f.deleted_at is null
  ), priced as (
    select billable_metric_id, properties from charge
    union all
    select billable_metric_id, properties from filter
  ), name as (
    select billable_metric_id, jsonb_object_keys("values") as name from filter
    union
    select billable_metric_id, jsonb_array_elements_text(
      coalesce(nullif(properties -> 'pricing_group_keys', 'null'), nullif(properties -> 'grouped_by', 'null'), '[]'))
    from priced
    union
    select billable_metric_id, jsonb_array_elements(
      coalesce(nullif(properties -> 'presentation_group_keys', 'null'), '[]')) ->> 'value'
    from priced
    union
    select billable_metric_id, 'target_wallet_code' from charge where accepts_target_wallet
  )
  select m.id as billable_metric_id, m.code, m.aggregation_type, m.field_name,
    coalesce((select array_agg(n.name order by n.name collate "C") from name n where n.billable_metric_id = m.id
      and n.name is not null), '{}') as property_names,
    m.deleted_at is null and exists (select from charge where charge.billable_metric_id = m.id) as is_charged
  from billable_metrics m
  where m.organization_id = ${organizationId} and m.id = any (${metricIds}::uuid[])
  order by m.id`;

/** Shapes of metrics that are live or in building. */
export const listShapes = ({ db, organizationId }: Scope, metricIds: readonly MetricId[]) => db<Shape[]>`
  select id, organization_id, billable_metric_id, code, aggregation_type, field_name, property_names, state, keeps_days
  from usage_shapes
  where organization_id = ${organizationId} and billable_metric_id = any (${metricIds}::uuid[])
    and state in ('building', 'live')`;
