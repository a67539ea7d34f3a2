import { Command } from 'commander';
import { launch } from './start/launch.ts';
import { untilSignal } from './start/until-signal.ts';

new Command('start')
  .description(
    'the whole service, from nothing; it is set by the environment (docs/operations.md "Settings") and Ctrl-C stops it',
  )
  .parse();

// The terminal may be closed while everything is being stopped.
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);

const say = (line: string) => console.log(line);

/** Started things that must be stopped, the last one first. */
const undo: (() => Promise<void> | void)[] = [];

try {
  await launch({ say, undo, stop: untilSignal(say) });
} catch (error) {
  process.exitCode = 1;
  console.error(error instanceof Error ? error.message : error);
}
for (const step of undo.reverse()) {
  try {
    await step();
  } catch (error) {
    process.exitCode = 1;
    console.error(`stopping: ${(error as Error).message}`);
  }
}
process.exit();
