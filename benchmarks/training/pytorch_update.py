"""The update of weights in the PyTorch loops: AdamW without decay on biases and norms, gradients clipped to norm 1, a linear schedule."""

from collections.abc import Callable

import torch
import transformers


def make_update(model: torch.nn.Module, rate: float, steps: int, fused: bool) -> Callable[[torch.Tensor], torch.Tensor]:
    """Return a function from the loss of a step to the same loss, which updates the model.

    Args:
        model: The model.
        rate: The peak learning rate, after a warm-up of 6 % of the steps.
        steps: Steps of the whole training.
        fused: Whether AdamW is the fused one.
    """
    parameters = list(model.parameters())
    with_decay, without_decay = [p for p in parameters if p.ndim > 1], [p for p in parameters if p.ndim <= 1]
    groups = [{"params": with_decay, "weight_decay": 0.01}, {"params": without_decay, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, rate, fused=fused or None)
    schedule = transformers.get_linear_schedule_with_warmup(optimizer, round(0.06 * steps), steps)

    def update(loss: torch.Tensor) -> torch.Tensor:
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        return loss.detach()

    return update
