/**
 * Loaded into the launcher's children before their program: when the launcher ends in any way, they stop as on SIGTERM
 * instead of keeping the port and the queues.
 */
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
// The listener must not keep a process alive that has nothing else to do.
process.channel?.unref();
