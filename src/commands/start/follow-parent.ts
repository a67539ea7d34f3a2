/**
 * Loaded into the launcher's children before their program: when the launcher is gone, however it ended, they stop as
 * on SIGTERM instead of holding the port and the queues.
 */
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
// The listener alone must not keep a process alive that has nothing else to do.
process.channel?.unref();
