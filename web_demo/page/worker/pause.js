/**
 * Lets other tasks run, such as the receipt of messages. Unlike `setTimeout`, it does not wait for some milliseconds.
 *
 * @returns {Promise<void>}
 */
export function pause() {
  return new Promise((resolve) => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => {
      channel.port1.close();
      resolve();
    };
    channel.port2.postMessage(null);
  });
}
