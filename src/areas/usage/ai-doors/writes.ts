import type { Scope } from '../../../platform/db/scope.ts';
import type { MappedSubject, Subject } from './subjects.ts';

/** Maps subjects to subscriptions, each once. */
export const upsertSubjects = ({ db, organizationId }: Scope, subjects: readonly MappedSubject[]) => db`
  insert into ai_subjects (organization_id, kind, value, external_subscription_id)
  select ${organizationId}, kind, value, external_subscription_id
  from unnest(${subjects.map(({ kind }) => kind)}::text[], ${subjects.map(({ value }) => value)}::text[],
    ${subjects.map((subject) => subject.external_subscription_id)}::text[])
    sent (kind, value, external_subscription_id)
  order by kind, value
  on conflict (organization_id, kind, value) do update
    set external_subscription_id = excluded.external_subscription_id`;

export const deleteSubjects = ({ db, organizationId }: Scope, subjects: readonly Subject[]) => db`
  delete from ai_subjects
  where organization_id = ${organizationId} and (kind, value) in (
    select * from unnest(${subjects.map(({ kind }) => kind)}::text[], ${subjects.map(({ value }) => value)}::text[]))`;

/** So that the number of subjects of an organization is counted by one command at a time. */
export const lockSubjects = ({ db, organizationId }: Scope) => db`
  select from organizations where id = ${organizationId} for no key update`;
