import torch


def outgrown(rows: torch.Tensor, weights_of_each_row: torch.Tensor):
    total = rows.sum(0)
    for row in rows.nonzero():
        row = row[0]
        total = torch.nn.functional.relu(total + rows[row] - 1, inplace=False).clamp(weights_of_each_row[row].max())  # big
        total = total + rows[row]  # small
    return total
# output
import torch
import autograph_torch.runtime as ag


def outgrown(rows: torch.Tensor, weights_of_each_row: torch.Tensor):
    total = rows.sum(0)
    def body(row, total):
        row = row[0]
        total = torch.nn.functional.relu(total + rows[ag.index(row)] - 1, inplace=False).clamp(
            weights_of_each_row[ag.index(row)].max()
        )  # big
        total = total + rows[ag.index(row)]  # small
        return (total,)
    (total,) = ag.for_loop(rows.nonzero(), body, (total,))
    return total
# calls
outgrown(torch.ones(3, 2), torch.ones(3, 2))
outgrown(torch.zeros(3, 2), torch.ones(3, 2))
