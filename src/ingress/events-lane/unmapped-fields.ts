import type { UsageItem } from '../../areas/usage/ai-doors/usage-item.ts';
import { parseProperties } from '../../areas/usage/events/property-json.ts';

const FLAG = 'unmapped_field:';
/** How many places of fields a process names in its metrics. */
const MOST_PATHS = 100;
const OTHER = 'other';

interface Counter {
  inc(labels: { format: string; path: string }): void;
}

/** Counts fields of usage that no mapping knows: a format that may need a new version. Rule: ai-usage.md#input. */
export class UnmappedFields {
  readonly #counter: Counter;
  readonly #paths = new Set<string>();

  constructor(counter: Counter) {
    this.#counter = counter;
  }

  note(items: readonly UsageItem[]): void {
    for (const item of items) {
      if (!('call' in item) || Object.keys(item.call.unmapped).length === 0) continue;
      const { ai_format: format, ai_flags: flags = '' } = parseProperties(item.call.events[0]!.properties);
      for (const flag of String(flags).split(','))
        if (flag.startsWith(FLAG))
          this.#counter.inc({ format: String(format), path: this.#named(flag.slice(FLAG.length)) });
    }
  }

  #named(path: string): string {
    if (!this.#paths.has(path) && this.#paths.size >= MOST_PATHS) return OTHER;
    this.#paths.add(path);
    return path;
  }
}
