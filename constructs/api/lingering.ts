/** When, and by which command, an administrator ends a pod that does not end by itself: of the alert, of `why` and of `doctor`. */

/** A clause that follows `if`. */
export function forcedEnd(namespace: string, pod: string): string {
  return `the node is off, or runs no container of it any more: kubectl -n ${namespace} delete pod ${pod} --force --grace-period=0`;
}
