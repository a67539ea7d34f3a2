import { assert } from '../../../engine/assert.ts';
import type { Scope } from '../../../platform/db/scope.ts';
import type { MappedSubject, Subject } from './subjects.ts';

/** Settings for the usage of models, only those that were set. */
export async function readAiSettings({ db, organizationId }: Scope): Promise<Record<string, unknown>> {
  const [row] = await db<{ ai_settings: Record<string, unknown> }[]>`
    select ai_settings from organizations where id = ${organizationId}`;
  assert(row, 'the organization of a key exists');
  return row.ai_settings;
}

/** Subscriptions of subjects, those that are mapped. */
export const listMapped = ({ db, organizationId }: Scope, subjects: readonly Subject[]) => db<MappedSubject[]>`
  select subject.kind, subject.value, subject.external_subscription_id
  from unnest(${subjects.map(({ kind }) => kind)}::text[], ${subjects.map(({ value }) => value)}::text[])
    asked (kind, value)
  join ai_subjects subject on subject.organization_id = ${organizationId} and subject.kind = asked.kind
    and subject.value = asked.value`;

/** A page of the map, by kind and value. */
export const listSubjects = (
  { db, organizationId }: Scope,
  {
    kind,
    value,
    limit,
    offset,
  }: { kind?: string | undefined; value?: string | undefined; limit: number; offset: number },
) => db<MappedSubject[]>`
  select kind, value, external_subscription_id from ai_subjects
  where organization_id = ${organizationId}
    ${kind === undefined ? db`` : db`and kind = ${kind}`} ${value === undefined ? db`` : db`and value = ${value}`}
  order by kind, value
  limit ${limit} offset ${offset}`;

export async function countSubjects(
  { db, organizationId }: Scope,
  { kind, value }: { kind?: string | undefined; value?: string | undefined } = {},
): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*)::int as count from ai_subjects
    where organization_id = ${organizationId}
      ${kind === undefined ? db`` : db`and kind = ${kind}`} ${value === undefined ? db`` : db`and value = ${value}`}`;
  return row!.count;
}
