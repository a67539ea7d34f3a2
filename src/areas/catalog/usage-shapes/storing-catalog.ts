import type { Budget } from '../../../engine/budgets/budget.ts';
import type { AggregationType } from '../../../engine/metrics/aggregation-types.ts';
import { type Expression, parseExpression } from '../../../engine/metrics/parse-expression.ts';
import type { Sql } from '../../../platform/db/connect.ts';
import type { MetricId, OrganizationId } from '../../../platform/ids.ts';
import { type BookVersion, bookVersion } from '../model-books/book-version.ts';
import { ModelBooks } from '../model-books/model-books.ts';
import { type CatalogRow, listCatalogs } from './queries.ts';
import { budgetOfJson } from './storing-budgets.ts';
import type { Shape } from './usage-shape.ts';

/** What the storage of events needs of one organization, as of one version of its shapes and of its prices. */
export interface Catalog {
  organizationId: OrganizationId;
  version: number;
  /** Its price book, as of the same moment. */
  book: BookVersion;
  /** By code; only metrics with an expression or a shape. */
  metrics: ReadonlyMap<string, CatalogMetric>;
  /** By code; metrics whose usage a feature limits. */
  limited: ReadonlyMap<string, LimitedMetric>;
  /** Ceilings on usage, oldest first. */
  budgets: readonly Budget[];
}

/** Which usage of a metric an access check counts (entitlements.md#usage-limits). */
export interface LimitedMetric {
  code: string;
  aggregation_type: AggregationType;
  field_name: string | null;
}

export interface CatalogMetric {
  field_name: string | null;
  /** Computes the field of every event with the code. */
  expression: Expression | null;
  live: LiveShape | null;
  building: Shape | null;
}

export interface LiveShape extends Shape {
  /** Subscriptions with too many groups, answered by scan: nothing is rolled up for them. */
  raw: ReadonlySet<string>;
  /** Groups met by this process, by the JSON of their texts. */
  groups: Map<string, KnownGroup>;
  /** New groups seen by this process, by subscription; a subscription with many is examined. */
  newGroups: Map<string, number>;
}

/** Texts of a shape's properties; one object for each group while it is cached. */
export interface KnownGroup {
  /** JSON of the texts, and its hash. */
  key: string;
  hash: string;
  /** The group's row is known to be committed. */
  isStored: boolean;
}

/** How many organizations are kept in memory; beyond it the oldest go first. */
const MOST_CATALOGS = 2000;

/** Catalogs of a process, kept until a writing transaction finds a newer version. */
export class CatalogCache {
  /** Prices of models, kept by the versions that the catalogs name. */
  readonly books = new ModelBooks();
  readonly #catalogs = new Map<string, Catalog>();

  /** Catalogs by organization; the missing ones are read in one statement. */
  async of(sql: Sql, organizationIds: Iterable<OrganizationId>): Promise<ReadonlyMap<string, Catalog>> {
    const wanted = [...new Set(organizationIds)];
    const missing = wanted.filter((id) => !this.#catalogs.has(id));
    if (missing.length > 0) {
      for (const row of await listCatalogs(sql, missing)) this.#catalogs.set(row.id, catalogOf(row));
    }
    const found = new Map(wanted.flatMap((id) => (this.#catalogs.has(id) ? [[id, this.#catalogs.get(id)!]] : [])));
    for (const id of this.#catalogs.keys()) {
      if (this.#catalogs.size <= MOST_CATALOGS) break;
      this.#catalogs.delete(id);
    }
    return found;
  }

  forget(organizationIds: Iterable<OrganizationId>): void {
    for (const id of organizationIds) this.#catalogs.delete(id);
  }
}

/** The catalog built from a row of the database. */
export function catalogOf(row: CatalogRow): Catalog {
  const shapeOf = (metricId: MetricId, state: Shape['state']) =>
    row.shapes.find((shape) => shape.billable_metric_id === metricId && shape.state === state) ?? null;
  const metrics = row.metrics.map((metric): [string, CatalogMetric] => {
    const live = shapeOf(metric.id, 'live');
    return [
      metric.code,
      {
        field_name: metric.field_name,
        expression: metric.expression === null ? null : (parseExpression(metric.expression) ?? null),
        live: live && {
          ...live,
          raw: new Set(
            row.raw.filter((pair) => pair.shape_id === live.id).map((pair) => pair.external_subscription_id),
          ),
          groups: new Map(),
          newGroups: new Map(),
        },
        building: shapeOf(metric.id, 'building'),
      },
    ];
  });
  return {
    organizationId: row.id,
    version: row.version,
    book: bookVersion(row),
    metrics: new Map(metrics),
    limited: new Map(row.limited.map((metric) => [metric.code, metric])),
    budgets: row.budgets.map(budgetOfJson),
  };
}
