import type { OrganizationId } from './ids.ts';
import type { OperationInput } from './operation.ts';
import type { SystemDeps } from './records/system-transaction.ts';

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
export type PreStep = (deps: SystemDeps, command: AskingCommand) => Promise<object | undefined>;

/** What a command knows from its pre-step. */
export interface Asked {
  readonly recordId: string;
  /** Absent while the command is rehearsed before anybody is asked. */
  readonly answer?: object;
}
