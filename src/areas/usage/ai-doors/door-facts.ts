import type { Scope } from '../../../platform/db/scope.ts';
import type { ExternalSubscriptionId, OrganizationId } from '../../../platform/ids.ts';
import { type DoorSettings, doorSettings } from './door-settings.ts';
import { listMapped, readAiSettings } from './queries.ts';
import { type Subject, subjectName } from './subjects.ts';

/** How old a fact of the cache may be: a change of the map or of a setting counts from then on. */
const FRESH_MS = 5000;
/** How many organizations, and how many subjects of all of them, a process caches: some 10 MB. */
const MOST_SETTINGS = 10_000;
const MOST_SUBJECTS = 100_000;

interface Fact<Value> {
  value: Value;
  readMs: number;
}

export type SubscriptionOf = (subject: Subject) => ExternalSubscriptionId | undefined;

/**
 * What the doors need to know before a call is an event: settings of its organization, and whose usage it is. Kept for
 * at most five seconds. Rule: ai-usage.md#whose-usage.
 *
 * nowMs  a clock that only goes on
 */
export class DoorFacts {
  readonly #settings = new Map<OrganizationId, Fact<Promise<DoorSettings>>>();
  readonly #subjects = new Map<string, Fact<ExternalSubscriptionId | undefined>>();
  readonly #nowMs: () => number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  settings(scope: Scope): Promise<DoorSettings> {
    const { organizationId: id } = scope;
    const known = this.#settings.get(id);
    if (known && this.#isFresh(known)) return known.value;
    const value = readAiSettings(scope).then(doorSettings);
    keep(this.#settings, MOST_SETTINGS, id, { value, readMs: this.#nowMs() });
    value.catch(() => this.#settings.delete(id)); // the next request asks again
    return value;
  }

  /** Looks up subjects by one statement for all that are not in the cache. */
  async subscriptions(scope: Scope, subjects: readonly Subject[]): Promise<SubscriptionOf> {
    const nameOf = (subject: Subject): string => `${scope.organizationId} ${subjectName(subject)}`;
    const found = new Map<string, ExternalSubscriptionId | undefined>();
    const missing = new Map<string, Subject>();
    for (const subject of subjects) {
      const name = nameOf(subject);
      const known = this.#subjects.get(name);
      if (known && this.#isFresh(known)) found.set(name, known.value);
      else missing.set(name, subject);
    }
    if (missing.size > 0) {
      const readMs = this.#nowMs();
      const mapped = await listMapped(scope, [...missing.values()]);
      for (const each of mapped) found.set(nameOf(each), each.external_subscription_id);
      for (const name of missing.keys()) keep(this.#subjects, MOST_SUBJECTS, name, { value: found.get(name), readMs });
    }
    return (subject) => found.get(nameOf(subject));
  }

  #isFresh({ readMs }: Fact<unknown>): boolean {
    return this.#nowMs() - readMs < FRESH_MS;
  }
}

/** The least recently read one leaves. */
function keep<Name, Value>(facts: Map<Name, Fact<Value>>, most: number, name: Name, fact: Fact<Value>): void {
  facts.delete(name);
  if (facts.size >= most) facts.delete(facts.keys().next().value!);
  facts.set(name, fact);
}
