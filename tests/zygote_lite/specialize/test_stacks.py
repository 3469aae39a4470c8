"""Lists whose items are known one by one, and change: stacks of nodes of trees that are given."""

import copy

import pytest

from tests.zygote_lite.checks import programs
from tests.zygote_lite.checks.oracles import assert_agreement
from zygote_lite import testing, value_and_grad

PROGRAMS = []
tried = programs.declaring(PROGRAMS)


class Node:
    def __init__(self, value, left=None, right=None):
        self.value, self.left, self.right = value, left, right


def tree():
    return Node(1.0, Node(2.0, Node(0.3), None), Node(0.5, None, Node(0.7)))


CHOICES = (0.7, tree()), (0.7, Node(0.2, None, tree())), (0.7, Node(3.0)), (-0.4, tree())


@tried(*CHOICES)
def depth_first(w, root):
    stack, s = [(root, 1.0)], 0.0
    while stack:
        node, factor = stack.pop()
        s += node.value * factor
        if node.right is not None:
            stack.append((node.right, factor * w))
        if node.left:
            stack.append((node.left, factor * w))
    return s


@tried(*CHOICES)
def breadth_first(w, root):
    queue, s = [root], 0.0
    while len(queue) > 0:
        node = queue.pop(0)
        if node is None:
            continue
        s = s * w + node.value
        queue.extend([node.left, node.right])
    return s


@tried(*CHOICES)
def in_order(w, root):
    stack, s, node = [], 0.0, root
    while node is not None or stack:
        while node is not None:
            stack.append(node)
            node = node.left
        node = stack.pop()
        s = s * w + node.value
        node = node.right
    return s


@tried(*CHOICES)
def other_methods(w, root):
    nodes = [root, root.left]
    nodes.insert(0, root.right)
    nodes.insert(-1, Node(w))
    nodes.reverse()
    s = 0.0
    while nodes:
        node = nodes.pop(-1)
        s = s * w + (0.5 if node is None else node.value)
    nodes.append(root)
    nodes.clear()
    return s + len(nodes)


@tried(*CHOICES)
def by_another_name(w, root):
    stack = [root, root]
    same, holder = stack, [stack]
    same.pop()
    holder[0].append(Node(w))
    s = 0.0
    for node in stack:
        s = s * w + node.value
    return s


@tried(*CHOICES)
def written_nodes(w, root):
    stack = [root]
    while stack:
        node = stack.pop()
        node.value = node.value * w
        if node.left is not None:
            stack.append(node.left)
    return root.value if root.left is None else root.value * root.left.value


@programs.for_each(PROGRAMS)
def test_stacks(f, choices):
    if f is written_nodes:
        assert assert_agreement(f, *choices, argnums=(0,))
    else:
        programs.assert_transformed(f, choices, (0,))
    assert assert_agreement(f, *choices, argnums=(0, 1))


def test_a_tree_that_grows_between_calls():
    root = tree()
    with testing.compared():
        for grow in (False, True, False):
            if grow:
                root.left.right = Node(5.0, Node(0.1))
            value_and_grad(depth_first)(0.7, root)
            value_and_grad(breadth_first, argnums=(0, 1))(0.7, root)


def test_items_that_depend_on_a_branch():
    def f(w, root):
        stack = [root]
        if w > 0.0:
            stack.append(root.left)
        else:
            stack.pop()
            stack.append(root.right)
        return stack.pop().value * w

    assert assert_agreement(f, (0.7, tree()), (-0.7, tree()), argnums=(0, 1))


def test_errors():
    def empty(w, root):
        stack = [root]
        stack.pop()
        try:
            stack.pop()
        except IndexError:
            return w * root.value
        return w

    def uncaught(w, root):
        stack = [root]
        stack.pop(3)
        return w

    assert_agreement(empty, (0.7, tree()), argnums=(0, 1))
    for _ in range(4):
        with pytest.raises(IndexError, match="pop index out of range"):
            value_and_grad(uncaught)(0.7, copy.copy(tree()))


def test_what_it_walks_over_is_left_to_the_tape():
    def f(w, root):
        nodes, s = [root, root.left, root.right], 0.0
        for node in nodes:
            s += node.value * w
            nodes.pop()
        return s

    assert_agreement(f, (0.7, tree()), argnums=(0, 1))
