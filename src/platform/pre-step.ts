import type { OrganizationId } from './ids.ts';
import type { OperationInput } from './operation.ts';
import type { ProviderCalls } from './payments/provider-calls.ts';
import type { SystemDeps } from './records/system-transaction.ts';
import { Outage } from './refusal.ts';

/** Longest wait for a provider's answer: half of the time for which a caller waits. */
export const ASKING_MOST_MS = 5000;

/** A command whose provider is asked before its transaction. */
export interface AskingCommand {
  organizationId: OrganizationId;
  sandbox: boolean;
  /** Id of the command; with it or with `recordId` in its key, a repeated question is the same one to the provider. */
  commandId: string;
  /** Id of the record that the command may make. It is kept in the job, so it stays however often that is delivered. */
  recordId: string;
  input: OperationInput;
}

/**
 * Asks a provider before a command, outside any transaction. What it returns is `ctx.asked.answer` of the command,
 * which validates again. It is repeated when its worker dies, so each question has a key of its command. An outage that
 * the command can do without is an answer too.
 *
 * @throws Refusal: the answer of the command, which is not run
 */
export type PreStep = (
  deps: SystemDeps & { calls?: ProviderCalls },
  command: AskingCommand,
) => Promise<object | undefined>;

/** What a command knows from its pre-step. */
export interface Asked {
  readonly recordId: string;
  /** Whether the command is rehearsed before anybody is asked: nothing of it stays. */
  readonly isRehearsal?: true;
  readonly answer?: object;
}

/** The answer of a provider in time. @throws Outage when there is none, which may mean that the request arrived */
export async function answeredInTime<Answer>(answer: Promise<Answer>, mostMs = ASKING_MOST_MS): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  const overdue = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Outage('provider', `no answer within ${mostMs} ms`)), mostMs);
  });
  try {
    return await Promise.race([answer, overdue]);
  } finally {
    clearTimeout(timer);
  }
}
