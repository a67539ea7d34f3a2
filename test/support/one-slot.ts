import { type Command, Pipeline, Redis } from 'ioredis';

/**
 * Makes every client of this process refuse what a cluster would refuse: a command, a script or a pipeline with keys of
 * several hash tags. It costs a look at the keys, so every test has it that starts a service or opens a queue.
 * Rule: redis-cluster.md#keys.
 */
export function refuseSeveralSlots(): void {
  const commands = Redis.prototype as unknown as Patched & Sending;
  if (commands.refusesSeveralSlots) return;
  commands.refusesSeveralSlots = true;
  const sendCommand = commands.sendCommand;
  commands.sendCommand = function (command, ...rest) {
    const tags = tagsOf([command]);
    if (tags.size <= 1) return sendCommand.call(this, command, ...rest);
    command.reject(new Error(crossing(command.name, tags)));
    return command.promise;
  };
  const pipelines = Pipeline.prototype as unknown as { exec(...rest: unknown[]): Promise<unknown>; _queue: Command[] };
  const exec = pipelines.exec;
  pipelines.exec = function (...rest) {
    const tags = tagsOf(this._queue);
    return tags.size <= 1 ? exec.apply(this, rest) : Promise.reject(new Error(crossing('pipeline', tags)));
  };
}

interface Patched {
  refusesSeveralSlots?: boolean;
}

interface Sending {
  sendCommand(command: Command, ...rest: unknown[]): unknown;
}

const crossing = (what: string, tags: Set<string>): string =>
  `CROSSSLOT Keys in ${what} do not hash to the same slot: ${[...tags].join(', ')}`;

function tagsOf(commands: readonly Command[]): Set<string> {
  const tags = new Set<string>();
  for (const command of commands) for (const key of command.getKeys?.() ?? []) tags.add(tagOf(String(key)));
  return tags;
}

/** What decides about a key's slot: the text between its first braces, if there is any, else all of it. */
export function tagOf(key: string): string {
  const [, tag] = /\{([^}]*)\}/.exec(key) ?? [];
  return tag ? tag : key;
}
