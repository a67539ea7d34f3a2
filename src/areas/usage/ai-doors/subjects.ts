import type { ExternalSubscriptionId } from '../../../platform/ids.ts';

/** Whose usage it may be said to be, in the order in which they are looked up. Rule: ai-usage.md#whose-usage. */
export const SUBJECT_KINDS = ['key', 'end_user', 'user', 'team', 'organization', 'tag'] as const;
export type SubjectKind = (typeof SUBJECT_KINDS)[number];

export interface Subject {
  kind: SubjectKind;
  value: string;
}

export interface MappedSubject extends Subject {
  external_subscription_id: ExternalSubscriptionId;
}

export const subjectName = ({ kind, value }: Subject): string => `${kind} ${value}`;

/** The subscription of the first mapped subject, in the order of kinds; undefined if none is mapped. */
export function subscriptionOf(
  subjects: readonly Subject[],
  mapped: (subject: Subject) => ExternalSubscriptionId | undefined,
): ExternalSubscriptionId | undefined {
  for (const kind of SUBJECT_KINDS)
    for (const subject of subjects) {
      const found = subject.kind === kind ? mapped(subject) : undefined;
      if (found !== undefined) return found;
    }
  return undefined;
}
