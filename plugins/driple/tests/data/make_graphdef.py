# SPDX-License-Identifier: Apache-2.0
"""Writes the GraphDef fixtures: run once with tensorflow-cpu from PyPI."""
import pathlib
import sys

import tensorflow.compat.v1 as tf

tf.disable_eager_execution()
OUT = pathlib.Path(sys.argv[1])


def weights(name, shape):
    return tf.get_variable(name, shape, initializer=tf.zeros_initializer(), use_resource=False)


with tf.Graph().as_default() as graph, tf.device("/device:GPU:0"):
    x = tf.placeholder(tf.float32, [8, 28, 28, 1], "images")
    labels = tf.placeholder(tf.int32, [8], "labels")
    for number, (inputs, outputs) in enumerate(((1, 32), (32, 64))):
        x = tf.nn.conv2d(x, weights(f"conv{number}", [5, 5, inputs, outputs]), 1, "SAME")
        x = tf.nn.relu(tf.nn.bias_add(x, weights(f"bias{number}", [outputs])))
        x = tf.nn.max_pool(x, 2, 2, "VALID")
    x = tf.reshape(x, [8, 64 * 7 * 7])
    x = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, weights("dense", [64 * 7 * 7, 512])), weights("dense_bias", [512])))
    x = tf.nn.bias_add(tf.matmul(x, weights("head", [512, 1000])), weights("head_bias", [1000]))
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=x))
    tf.train.GradientDescentOptimizer(0.1).minimize(loss)
message = graph.as_graph_def(add_shapes=True)
tf.io.write_graph(message, str(OUT), "lenet_training.pbtxt", as_text=True)
tf.io.write_graph(message, str(OUT), "lenet_training.pb", as_text=False)
