/** What a start by usual runtimes means, as a clause. */
export function likelySentence(time: string): string {
  return `if workloads end as early as the last two of their users, it starts at about ${time}`;
}
