import { Command } from 'commander';
import { openCaller } from './provider-check/caller.ts';
import { CASES, playCases } from './provider-check/cases.ts';

interface Options {
  pays: string;
  declined: string;
  late: string;
  without: string;
  inboundUrl?: string;
  port: string;
}

const program = new Command('provider-check')
  .description('Plays what a custom payment provider must do, and prints which cases it passes')
  .argument('<url>', 'address of the provider, in its test mode')
  .argument('<secret>', 'secret that signs in both directions: whsec_…')
  .option('--pays <method>', 'method whose charge succeeds at once', 'pm_ok')
  .option('--declined <method>', 'method whose charge is declined', 'pm_declined')
  .option('--late <method>', 'method whose charge succeeds later, by an event', 'pm_late')
  .option('--without <capabilities>', 'capabilities that it does not have, with commas between them', '')
  .option('--port <port>', 'port on which its events are received; default any', '0')
  .option('--inbound-url <url>', 'address by which it reaches that port; default this machine')
  .action(async (url: string, secret: string, options: Options) => {
    const caller = await openCaller(url, secret, { inboundUrl: options.inboundUrl, port: Number(options.port) });
    const without = new Set(options.without.split(',').filter((name) => name !== ''));
    const counts = { ok: 0, failed: 0, skipped: 0 };
    let number = 0;
    for await (const { title, verdict, fault } of playCases(caller, { methods: options, without })) {
      number += 1;
      counts[verdict] += 1;
      console.log(`${String(number).padStart(2)}  ${verdict.padEnd(7)}  ${title}${fault === '' ? '' : ` (${fault})`}`);
    }
    console.log(`${CASES.length} cases: ${counts.ok} ok, ${counts.failed} failed, ${counts.skipped} skipped`);
    await caller.close();
    process.exitCode = counts.failed === 0 ? 0 : 1;
  });

try {
  await program.parseAsync();
} catch (error) {
  console.error(`provider-check: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
